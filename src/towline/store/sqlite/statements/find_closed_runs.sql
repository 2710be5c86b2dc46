-- The seq and the number of events of each run that may be deleted.
SELECT json_group_array(json_array(seq, run_id, last_event_id))
FROM runs WHERE status <> 1 AND run_id IN (VALUES (?))

-- Parameters: namespace, workflow type or '', status or 0.
SELECT count(*) FROM runs
WHERE namespace = ?1 AND (?2 = '' OR workflow_type = ?2) AND (?3 = 0 OR status = ?3)

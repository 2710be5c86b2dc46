-- Parameters: as of list_runs, and the workflow id.
SELECT json_group_array(json_array(
  run_id, namespace, workflow_id, workflow_type, task_queue, status, start_request_id, start_time_ms, close_time_ms,
  last_event_id, history_size_bytes
)) FROM (
  SELECT * FROM runs INDEXED BY runs_by_workflow
  WHERE
    namespace = ?1 AND workflow_id = ?7 AND (?2 = '' OR workflow_type = ?2) AND (?3 = 0 OR status = ?3)
    AND (start_time_ms, run_id) < (?4, ?5)
  ORDER BY start_time_ms DESC, run_id DESC LIMIT ?6
)

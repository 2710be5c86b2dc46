SELECT json_group_array(json_array(
  run_id, namespace, workflow_id, workflow_type, task_queue, status, start_request_id, start_time_ms, close_time_ms,
  last_event_id, history_size_bytes, revision
)) FROM (
  SELECT * FROM runs WHERE status <> 1 AND close_time_ms < ? ORDER BY close_time_ms, run_id LIMIT ?
)

SELECT
  run_id, namespace, workflow_id, workflow_type, task_queue, status, start_request_id, start_time_ms, close_time_ms,
  last_event_id, history_size_bytes, revision
FROM runs WHERE run_id = ? AND namespace = ? AND workflow_id = ?

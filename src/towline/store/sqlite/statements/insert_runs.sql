INSERT INTO runs (
  seq, run_id, namespace, workflow_id, workflow_type, task_queue, status, start_request_id, start_time_ms,
  close_time_ms, last_event_id, history_size_bytes, revision
)
SELECT * FROM (VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)) WHERE column1 IS NOT NULL

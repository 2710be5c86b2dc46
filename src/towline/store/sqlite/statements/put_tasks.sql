INSERT INTO tasks (
  run_id, task_id, namespace, queue, workflow_id, scheduled_event_id, attempt, visible_at_ms, lease_token,
  lease_expires_at_ms, started_event_id, started_at_ms, attempt_expires_at_ms, priority, details
)
SELECT * FROM (VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)) WHERE column1 IS NOT NULL
ON CONFLICT (run_id, task_id) DO UPDATE SET
  namespace = excluded.namespace,
  queue = excluded.queue,
  workflow_id = excluded.workflow_id,
  scheduled_event_id = excluded.scheduled_event_id,
  attempt = excluded.attempt,
  visible_at_ms = excluded.visible_at_ms,
  lease_token = excluded.lease_token,
  lease_expires_at_ms = excluded.lease_expires_at_ms,
  started_event_id = excluded.started_event_id,
  started_at_ms = excluded.started_at_ms,
  attempt_expires_at_ms = excluded.attempt_expires_at_ms,
  priority = excluded.priority,
  details = excluded.details

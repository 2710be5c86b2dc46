INSERT INTO timers (run_id, timer_id, namespace, workflow_id, fire_at_ms)
SELECT * FROM (VALUES (?, ?, ?, ?, ?)) WHERE column1 IS NOT NULL
ON CONFLICT (run_id, timer_id) DO UPDATE SET
  namespace = excluded.namespace, workflow_id = excluded.workflow_id, fire_at_ms = excluded.fire_at_ms

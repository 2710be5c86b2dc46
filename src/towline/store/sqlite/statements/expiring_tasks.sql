SELECT json_group_array(json_array(
  run_id, task_id, namespace, queue, workflow_id, scheduled_event_id, attempt, visible_at_ms, lease_token,
  lease_expires_at_ms, started_event_id, started_at_ms, attempt_expires_at_ms, priority, hex(details)
)) FROM (
  SELECT * FROM tasks WHERE lease_expires_at_ms > 0 AND lease_expires_at_ms <= ?
  ORDER BY lease_expires_at_ms, task_id LIMIT ?
)

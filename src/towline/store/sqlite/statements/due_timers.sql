SELECT json_group_array(json_array(namespace, run_id, workflow_id, timer_id, fire_at_ms)) FROM (
  SELECT * FROM timers WHERE fire_at_ms <= ? ORDER BY fire_at_ms, run_id, timer_id LIMIT ?
)

-- A whole run as one row. Blobs come as hexadecimal: an aggregate can neither join nor list them as they are.
SELECT
  run_id, namespace, workflow_id, workflow_type, task_queue, status, start_request_id, start_time_ms, close_time_ms,
  last_event_id, history_size_bytes, revision,
  (
    SELECT group_concat(blobs.hexadecimal, ' ') FROM (
      SELECT hex(events) AS hexadecimal FROM history
      WHERE id BETWEEN runs.seq << 24 AND (runs.seq << 24) + 0xffffff
      ORDER BY id
    ) AS blobs
  ),
  (
    SELECT json_group_array(json_array(
      run_id, task_id, namespace, queue, workflow_id, scheduled_event_id, attempt, visible_at_ms, lease_token,
      lease_expires_at_ms, started_event_id, started_at_ms, attempt_expires_at_ms, priority, hex(details)
    )) FROM (SELECT * FROM tasks WHERE tasks.run_id = runs.run_id ORDER BY task_id)
  )
FROM runs WHERE run_id = ?

-- One row per priority in use, the first one first: so that nothing that is not ready yet has to be skipped over.
WITH RECURSIVE level (priority) AS (
  SELECT min(priority) FROM tasks WHERE namespace = :namespace AND queue = :queue AND lease_expires_at_ms = 0
  UNION ALL
  SELECT (
    SELECT min(tasks.priority) FROM tasks
    WHERE namespace = :namespace AND queue = :queue AND lease_expires_at_ms = 0 AND tasks.priority > level.priority
  )
  FROM level WHERE level.priority IS NOT NULL
)
SELECT (
  SELECT json_group_array(json_array(namespace, queue, task_id, run_id, priority, visible_at_ms)) FROM (
    SELECT namespace, queue, task_id, run_id, priority, visible_at_ms FROM tasks
    WHERE
      namespace = :namespace AND queue = :queue AND lease_expires_at_ms = 0
      AND tasks.priority = level.priority AND visible_at_ms <= :now_ms
    ORDER BY visible_at_ms, task_id LIMIT :limit
  )
)
FROM level WHERE level.priority IS NOT NULL ORDER BY level.priority

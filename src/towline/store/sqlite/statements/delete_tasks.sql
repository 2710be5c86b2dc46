DELETE FROM tasks WHERE (run_id, task_id) IN (VALUES (?, ?))

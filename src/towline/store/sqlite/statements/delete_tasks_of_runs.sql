DELETE FROM tasks WHERE run_id IN (VALUES (?))

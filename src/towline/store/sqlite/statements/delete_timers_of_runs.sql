DELETE FROM timers WHERE run_id IN (VALUES (?))

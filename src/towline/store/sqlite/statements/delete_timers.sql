DELETE FROM timers WHERE (run_id, timer_id) IN (VALUES (?, ?))

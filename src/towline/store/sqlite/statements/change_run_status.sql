UPDATE runs SET status = new.column2, close_time_ms = new.column3
FROM (VALUES (?, ?, ?)) AS new
WHERE runs.seq = new.column1

-- Names no indexed column: SQLite would write the index entries again even where the values are the same.
UPDATE runs SET last_event_id = new.column2, history_size_bytes = new.column3, revision = new.column4
FROM (VALUES (?, ?, ?, ?)) AS new
WHERE runs.seq = new.column1

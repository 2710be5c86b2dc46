INSERT INTO history (id, last_event_id, events)
SELECT * FROM (VALUES (?, ?, ?)) WHERE column1 IS NOT NULL

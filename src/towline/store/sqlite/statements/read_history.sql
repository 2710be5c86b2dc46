-- The blobs from the one that holds the event on, as one row: their first and last event id, and they themselves as
-- hexadecimal. They must fit maximum_bytes; the first one always does.
WITH
  run AS (SELECT seq << 24 AS base FROM runs WHERE run_id = :run_id),
  rest AS (
    SELECT
      id,
      sum(length(events)) OVER (ORDER BY id) AS total_bytes,
      row_number() OVER (ORDER BY id) AS number
    FROM history
    WHERE id BETWEEN (
      SELECT max(id) FROM history WHERE id BETWEEN (SELECT base FROM run) AND (SELECT base FROM run) + max(:first_event_id, 1)
    ) AND (SELECT base FROM run) + 0xffffff
  )
SELECT min(id) & 0xffffff, max(last_event_id), group_concat(hex(events), ' ')
FROM (
  SELECT id, last_event_id, events FROM history
  WHERE
    id BETWEEN (SELECT min(id) FROM rest) AND (SELECT max(id) FROM rest WHERE number = 1 OR total_bytes <= :maximum_bytes)
    AND last_event_id >= :first_event_id
  ORDER BY id
)

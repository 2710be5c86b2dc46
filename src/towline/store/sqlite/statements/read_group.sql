-- All that a group of batches is judged on, as one row: the largest seq, and an array with one item per key asked for.
-- Keys are (kind, a, b): 0 a run by its id, 1 the newest run of a workflow id.
SELECT
  (SELECT coalesce(max(seq), 0) FROM runs),
  json_group_array(json(CASE key.column1
    WHEN 0 THEN (SELECT json_array(seq, revision, status) FROM runs WHERE run_id = key.column2)
    WHEN 1 THEN (
      SELECT json_array(run_id, status) FROM runs
      WHERE namespace = key.column2 AND workflow_id = key.column3
      ORDER BY seq DESC LIMIT 1
    )
  END))
FROM (VALUES (?, ?, ?)) AS key

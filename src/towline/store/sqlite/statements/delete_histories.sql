DELETE FROM history WHERE id IN (
  SELECT history.id FROM (VALUES (?)) AS run
  CROSS JOIN history ON history.id BETWEEN run.column1 << 24 AND (run.column1 << 24) + 0xffffff
)

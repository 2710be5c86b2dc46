-- Parameters: as of count_runs, and the workflow id.
SELECT count(*) FROM runs INDEXED BY runs_by_workflow
WHERE namespace = ?1 AND workflow_id = ?4 AND (?2 = '' OR workflow_type = ?2) AND (?3 = 0 OR status = ?3)

-- As count_runs, of one workflow id.
SELECT count(*) FROM runs INDEXED BY runs_by_workflow
WHERE namespace = :namespace AND workflow_id = :workflow_id AND (:workflow_type = '' OR workflow_type = :workflow_type) AND (:status = 0 OR status = :status)

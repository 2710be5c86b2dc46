-- workflow_type may be '' and status 0: any.
SELECT count(*) FROM runs
WHERE namespace = :namespace AND (:workflow_type = '' OR workflow_type = :workflow_type) AND (:status = 0 OR status = :status)

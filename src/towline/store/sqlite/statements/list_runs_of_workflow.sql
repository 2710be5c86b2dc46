-- As list_runs, of one workflow id.
SELECT json_group_array(json_array(
  run_id, namespace, workflow_id, workflow_type, task_queue, status, start_request_id, start_time_ms, close_time_ms,
  last_event_id, history_size_bytes, revision
)) FROM (
  SELECT * FROM runs INDEXED BY runs_by_workflow
  WHERE
    namespace = :namespace AND workflow_id = :workflow_id AND (:workflow_type = '' OR workflow_type = :workflow_type) AND (:status = 0 OR status = :status)
    AND (start_time_ms, run_id) < (:start_time_ms, :run_id)
  ORDER BY start_time_ms DESC, run_id DESC LIMIT :limit
)

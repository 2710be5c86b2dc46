"""A run, put into the words of DescribeWorkflow."""

from towline import limits
from towline.api import workflow_service_pb2 as pb
from towline.api.common_pb2 import WorkflowExecution
from towline.api.failure_pb2 import Failure
from towline.api.token_pb2 import TaskDetails
from towline.core.state import Activity, Run, WorkflowTask
from towline.core.task import TaskRow, activity_task_id, workflow_task_id
from towline.store.api import RunRow

_CUT_MESSAGE_CHARACTERS = 200


def info(row: RunRow) -> pb.WorkflowExecutionInfo:
    """The run at a glance."""
    return pb.WorkflowExecutionInfo(
        execution=WorkflowExecution(workflow_id=row.workflow_id, run_id=row.run_id),
        workflow_type=row.workflow_type,
        task_queue=row.task_queue,
        status=row.status,  # type: ignore[arg-type]
        start_time_ms=row.start_time_ms,
        close_time_ms=row.close_time_ms,
        history_length=row.last_event_id,
        history_size_bytes=row.history_size_bytes,
    )


def describe(row: RunRow, run: Run) -> pb.DescribeWorkflowResponse:
    """The run with what it waits for."""
    state, tasks = run.state, run.tasks
    response = pb.DescribeWorkflowResponse(info=info(row))
    room_bytes = limits.MAXIMUM_PAGE_SIZE_BYTES // 2
    for activity in state.activities.values():
        task = tasks.get(activity_task_id(state.run_id, activity.scheduled_event_id))
        pending = _activity(activity, task)
        if pending.ByteSize() > room_bytes:
            _cut(pending)
        room_bytes -= pending.ByteSize()
        response.pending_activities.append(pending)
    if state.workflow_task is not None:
        task = tasks.get(workflow_task_id(state.run_id, state.workflow_task.scheduled_event_id))
        response.pending_workflow_task.CopyFrom(_workflow_task(state.workflow_task, task))
    return response


def _activity(activity: Activity, task: TaskRow | None) -> pb.PendingActivityInfo:
    details = TaskDetails.FromString(task.details if task else b"")
    started = task is not None and task.leased()
    return pb.PendingActivityInfo(
        activity_id=activity.activity_id,
        activity_type=activity.activity_type,
        scheduled_event_id=activity.scheduled_event_id,
        attempt=task.attempt if task else 1,
        started=started,
        next_attempt_time_ms=0 if task is None or started else task.visible_at_ms,
        last_failure=details.last_failure if details.HasField("last_failure") else None,
        heartbeat_details=details.heartbeat_details if details.HasField("heartbeat_details") else None,
        last_worker_identity=details.identity,
    )


def _cut(pending: pb.PendingActivityInfo) -> None:
    """Leave out what can be large: an answer must fit a message, however many activities are pending."""
    pending.ClearField("heartbeat_details")
    if pending.HasField("last_failure"):
        message = pending.last_failure.message[:_CUT_MESSAGE_CHARACTERS]
        pending.last_failure.CopyFrom(Failure(message=message))


def _workflow_task(pending: WorkflowTask, task: TaskRow | None) -> pb.PendingWorkflowTaskInfo:
    details = TaskDetails.FromString(task.details if task else b"")
    started = task is not None and task.leased()
    return pb.PendingWorkflowTaskInfo(
        scheduled_event_id=pending.scheduled_event_id,
        attempt=task.attempt if task else pending.attempt,
        started=started,
        next_attempt_time_ms=0 if task is None or started else task.visible_at_ms,
        last_failure=details.last_failure if details.HasField("last_failure") else None,
    )

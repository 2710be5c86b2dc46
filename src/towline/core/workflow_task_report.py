"""Workflow tasks, reported on: completed with commands, or failed. The state table is in workflow_task.py."""

from towline.api import common_pb2 as common
from towline.api import history_pb2 as history
from towline.api.common_pb2 import WorkflowTaskFailedCause
from towline.api.failure_pb2 import Failure
from towline.api.history_pb2 import WorkflowTaskCompletedEventAttributes, WorkflowTaskFailedEventAttributes
from towline.api.token_pb2 import TaskToken
from towline.core import command, lease, workflow_task
from towline.core.command import TaskFails
from towline.core.decision import Done, Outcome
from towline.core.draft import Draft
from towline.core.failure import server_failed
from towline.core.request import CompleteWorkflowTask, FailWorkflowTask
from towline.core.retry import workflow_task_backoff_ms
from towline.core.task import TaskRow
from towline.core.validation import check_failure
from towline.core.workflow_task_lease import pending_for


def complete(draft: Draft, request: CompleteWorkflowTask) -> Outcome:
    """The worker decided: its commands become events. Without commands the task is completed all the same."""
    row = _held(draft, request.token)
    message = request.message
    commands = command.read(message.commands)
    unseen = workflow_task.has_news(draft.state, row)
    if unseen and commands and commands[-1].kind.closes:
        _unhandled(draft, row, message.identity)
        return Done()
    workflow_task.write_started(draft)
    completed = WorkflowTaskCompletedEventAttributes(
        scheduled_event_id=row.scheduled_event_id, started_event_id=row.started_event_id, identity=message.identity
    )
    completed_event_id = draft.append(history.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, workflow_task_completed=completed)
    draft.workflow_task_pending = False
    draft.ack(row)
    try:
        command.carry_out(draft, commands, completed_event_id)
    except TaskFails as reason:
        draft.start_over()
        _failed(draft, row, cause=reason.cause, failure=reason.failure, identity=message.identity)
        return Done()
    if unseen and not draft.workflow_task_pending:
        workflow_task.schedule(draft, attempt=workflow_task.FIRST_ATTEMPT, visible_at_ms=draft.now_ms)
    return Done()


def fail(draft: Draft, request: FailWorkflowTask) -> Outcome:
    """The worker could not decide. The run stays open and the task is tried again after a while."""
    row = _held(draft, request.token)
    message = request.message
    check_failure(message.failure, f"workflow task failure of {draft.state.workflow_id}")
    _failed(draft, row, cause=message.cause, failure=message.failure, identity=message.identity)
    return Done()


def _held(draft: Draft, token: TaskToken) -> TaskRow:
    row = lease.held(draft, token)
    if pending_for(draft, row) is None or row.started_event_id != token.started_event_id:
        raise lease.lost(row)
    return row


def _failed(
    draft: Draft, row: TaskRow, *, cause: WorkflowTaskFailedCause.ValueType, failure: Failure, identity: str
) -> None:
    pending = draft.state.workflow_task
    attempt = workflow_task.attempt_after(draft, row)
    failed_attempt = max(attempt - 1, workflow_task.FIRST_ATTEMPT)
    details = lease.details(row)
    details.last_failure.CopyFrom(failure)
    encoded = lease.encoded(details)
    visible_at_ms = draft.now_ms + workflow_task_backoff_ms(failed_attempt)
    if pending is not None and pending.failure_written:
        lease.give_back(draft, row, attempt=attempt, visible_at_ms=visible_at_ms, details=encoded)
        return
    _write_failed(draft, row, cause=cause, failure=failure, identity=identity)
    workflow_task.schedule(draft, attempt=attempt, visible_at_ms=visible_at_ms, details=encoded)


def _unhandled(draft: Draft, row: TaskRow, identity: str) -> None:
    failure = server_failed("the run would have ended while news waited that the workflow has not seen")
    cause = common.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND
    _write_failed(draft, row, cause=cause, failure=failure, identity=identity)
    workflow_task.schedule(draft, attempt=workflow_task.FIRST_ATTEMPT, visible_at_ms=draft.now_ms)


def _write_failed(
    draft: Draft, row: TaskRow, *, cause: WorkflowTaskFailedCause.ValueType, failure: Failure, identity: str
) -> None:
    workflow_task.write_started(draft)
    failed = WorkflowTaskFailedEventAttributes(
        scheduled_event_id=row.scheduled_event_id,
        started_event_id=row.started_event_id,
        cause=cause,
        failure=failure,
        identity=identity,
    )
    draft.append(history.EVENT_TYPE_WORKFLOW_TASK_FAILED, workflow_task_failed=failed)
    draft.workflow_task_pending = False
    draft.ack(row)

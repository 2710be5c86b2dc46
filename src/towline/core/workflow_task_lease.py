"""Workflow tasks between two reports: delivered, out of time, given back. The state table is in workflow_task.py."""

from towline.api import common_pb2 as common
from towline.api import history_pb2 as history
from towline.api.failure_pb2 import Failure
from towline.api.token_pb2 import TaskDetails
from towline.core import lease, workflow_task
from towline.core.decision import Delivered, Done, Outcome, Stale
from towline.core.draft import Draft
from towline.core.failure import timed_out
from towline.core.request import DeliverTask, LeaseExpired, ReleaseTask
from towline.core.state import WorkflowTask
from towline.core.task import TaskRow
from towline.core.validation import format_ms


def deliver(draft: Draft, request: DeliverTask, row: TaskRow) -> Outcome:
    """Lease the task to a poller, as a second one for the same S if the first lease ran out."""
    pending = pending_for(draft, row)
    if pending is None:
        draft.ack(row)
        return Stale()
    attempt, details = row.attempt, lease.details(row)
    if lease.lapsed(row, draft.now_ms):
        attempt = workflow_task.attempt_after(draft, row)
        details.last_failure.CopyFrom(_timed_out(row, pending))
    elif lease.live(row, draft.now_ms) or row.visible_at_ms > draft.now_ms:
        return Stale()
    details.identity = request.identity
    return Delivered(_lease(draft, request, row, pending=pending, attempt=attempt, details=details))


def _lease(
    draft: Draft, request: DeliverTask, row: TaskRow, *, pending: WorkflowTask, attempt: int, details: TaskDetails
) -> TaskRow:
    started_event_id = draft.next_event_id
    if workflow_task.started_is_due(pending, attempt):
        started = workflow_task.started_attributes(draft.state, row.scheduled_event_id, request.identity)
        draft.append(history.EVENT_TYPE_WORKFLOW_TASK_STARTED, workflow_task_started=started)
    return draft.change(
        row,
        attempt=attempt,
        visible_at_ms=draft.now_ms,
        lease_token=lease.next_token(row, request.lease_token),
        lease_expires_at_ms=draft.now_ms + pending.timeout_ms,
        started_event_id=started_event_id,
        started_at_ms=draft.now_ms,
        details=lease.encoded(details),
    )


def expire(draft: Draft, request: LeaseExpired, row: TaskRow) -> Outcome:
    """The worker did not report in time. That is counted, never written; the next worker may have it at once."""
    pending = pending_for(draft, row)
    if pending is None:
        draft.ack(row)
        return Stale()
    if row.lease_token != request.lease_token or not lease.lapsed(row, draft.now_ms):
        return Stale()
    details = lease.details(row)
    details.last_failure.CopyFrom(_timed_out(row, pending))
    lease.give_back(
        draft,
        row,
        attempt=workflow_task.attempt_after(draft, row),
        visible_at_ms=draft.now_ms,
        details=lease.encoded(details),
    )
    return Done()


def release(draft: Draft, request: ReleaseTask, row: TaskRow) -> Outcome:
    """The holder never began with it. News that came meanwhile counts as if it had come to a waiting task."""
    attempt = workflow_task.FIRST_ATTEMPT if workflow_task.has_news(draft.state, row) else row.attempt
    lease.give_back(draft, row, attempt=attempt, visible_at_ms=draft.now_ms)
    return Done()


def pending_for(draft: Draft, row: TaskRow) -> WorkflowTask | None:
    """The pending workflow task that the row belongs to; None: history has no use for the row."""
    pending = draft.state.workflow_task
    if pending is None or pending.scheduled_event_id != row.scheduled_event_id:
        return None
    return pending


def _timed_out(row: TaskRow, pending: WorkflowTask) -> Failure:
    return timed_out(
        common.TIMEOUT_TYPE_START_TO_CLOSE,
        f"workflow task {row.task_id} was not completed within {format_ms(pending.timeout_ms)}: "
        "its worker died, or workflow code blocks",
    )

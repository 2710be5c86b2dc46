"""Activity tasks, reported on: completed, failed, a sign of life. The state table is in activity.py."""

from towline.api import history_pb2 as history
from towline.api.common_pb2 import Payloads, RetryState
from towline.api.history_pb2 import ActivityTaskCompletedEventAttributes, ActivityTaskFailedEventAttributes
from towline.api.token_pb2 import TaskToken
from towline.core import activity, lease, retry, workflow_task
from towline.core.activity_task import lease_until_ms
from towline.core.activity_timeout import try_again
from towline.core.decision import Done, HeartbeatRecorded, Outcome
from towline.core.draft import Draft
from towline.core.request import CompleteActivityTask, FailActivityTask, RecordHeartbeat
from towline.core.state import Activity
from towline.core.task import TaskRow
from towline.core.validation import check_failure, check_payloads, check_size
from towline.limits import EVENT_SIZE_BYTES

_DETAILS_ADVICE = "store its details elsewhere and send their path"


def complete(draft: Draft, request: CompleteActivityTask) -> Outcome:
    """The activity returned."""
    message = request.message
    pending, row = _held(draft, request.token, message.lease_token)
    what = f"activity result of {_name(draft, pending)}"
    check_payloads(message.result, what, advice="store it elsewhere and return its path")
    workflow_task.write_started(draft)
    started_event_id = activity.append_started(draft, row, lease.details(row))
    completed = ActivityTaskCompletedEventAttributes(
        result=message.result if message.HasField("result") else None,
        scheduled_event_id=row.scheduled_event_id,
        started_event_id=started_event_id,
        identity=message.identity,
    )
    draft.append(history.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, activity_task_completed=completed)
    activity.closed(draft, pending, row)
    return Done()


def fail(draft: Draft, request: FailActivityTask) -> Outcome:
    """The attempt failed: the next attempt, or the end of the activity."""
    message = request.message
    pending, row = _held(draft, request.token, message.lease_token)
    check_failure(message.failure, f"activity failure of {_name(draft, pending)}")
    _check_heartbeat_details(draft, pending, message.last_heartbeat_details)
    verdict = retry.after_failure(
        pending.retry_policy,
        message.failure,
        attempt=row.attempt,
        now_ms=draft.now_ms,
        deadline_ms=activity.closes_until_ms(pending),
    )
    match verdict:
        case retry.TryAgain(delay_ms):
            details = lease.details(row)
            if message.HasField("last_heartbeat_details"):
                details.heartbeat_details.CopyFrom(message.last_heartbeat_details)
            try_again(draft, row, message.failure, details, delay_ms)
        case retry.GiveUp(retry_state):
            _close_failed(draft, request, pending, row, retry_state)
    return Done()


def _close_failed(
    draft: Draft,
    request: FailActivityTask,
    pending: Activity,
    row: TaskRow,
    retry_state: RetryState.ValueType,
) -> None:
    workflow_task.write_started(draft)
    started_event_id = activity.append_started(draft, row, lease.details(row))
    failed = ActivityTaskFailedEventAttributes(
        failure=request.message.failure,
        scheduled_event_id=row.scheduled_event_id,
        started_event_id=started_event_id,
        identity=request.message.identity,
        retry_state=retry_state,
    )
    draft.append(history.EVENT_TYPE_ACTIVITY_TASK_FAILED, activity_task_failed=failed)
    activity.closed(draft, pending, row)


def heartbeat(draft: Draft, request: RecordHeartbeat) -> Outcome:
    """A sign of life: the lease is moved on and the details are kept for the next attempt."""
    message = request.message
    pending, row = _held(draft, request.token, message.lease_token)
    _check_heartbeat_details(draft, pending, message.details)
    expires_at_ms = lease_until_ms(pending.heartbeat_timeout_ms, draft.now_ms, row.attempt_expires_at_ms)
    encoded = row.details
    if message.HasField("details"):
        details = lease.details(row)
        details.heartbeat_details.CopyFrom(message.details)
        encoded = lease.encoded(details)
    if expires_at_ms != row.lease_expires_at_ms or encoded != row.details:
        draft.change(row, lease_expires_at_ms=expires_at_ms, details=encoded)
    return HeartbeatRecorded(cancel_requested=False)


def _check_heartbeat_details(draft: Draft, pending: Activity, heartbeat_details: Payloads) -> None:
    name = _name(draft, pending)
    check_payloads(heartbeat_details, f"heartbeat of {name}", advice=_DETAILS_ADVICE)
    # The next attempt's poll is answered with both in one message.
    together_bytes = pending.input.ByteSize() + heartbeat_details.ByteSize()
    what = f"activity input of {name} together with its heartbeat"
    check_size(together_bytes, what, limit_bytes=EVENT_SIZE_BYTES, advice=_DETAILS_ADVICE)


def _held(draft: Draft, token: TaskToken, lease_token: int) -> tuple[Activity, TaskRow]:
    row = lease.held(draft, token)
    pending = draft.state.activities.get(row.scheduled_event_id)
    if pending is None or lease_token != row.lease_token:
        raise lease.lost(row)
    return pending, row


def _name(draft: Draft, pending: Activity) -> str:
    return f"{draft.state.workflow_id}/{pending.activity_id}"

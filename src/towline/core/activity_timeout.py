"""Time limits of activities: of one attempt (tried again), and the final ones. The state table is in activity.py."""

from towline.api import common_pb2 as common
from towline.api import history_pb2 as history
from towline.api.common_pb2 import RetryState, TimeoutType
from towline.api.failure_pb2 import Failure
from towline.api.history_pb2 import ActivityTaskTimedOutEventAttributes
from towline.api.token_pb2 import TaskDetails
from towline.core import activity, lease, retry, workflow_task
from towline.core.decision import Done, Outcome, Stale
from towline.core.draft import Draft
from towline.core.failure import timed_out
from towline.core.request import TimerFired
from towline.core.state import Activity
from towline.core.task import TaskRow, activity_task_id
from towline.core.validation import format_ms
from towline.limits import EVENT_SIZE_BYTES, KIB

FIRST_ATTEMPT = 1
# What a closing event has around its failure: ids, its type, a time.
_AROUND_FAILURE_BYTES = KIB


def fired(draft: Draft, request: TimerFired, scheduled_event_id: int) -> Outcome:
    """A timer of an activity is due. What history has no use for is cleared; what is early (clocks jump) stays."""
    pending = draft.state.activities.get(scheduled_event_id)
    row = draft.run.tasks.get(activity_task_id(draft.state.run_id, scheduled_event_id))
    if pending is None or row is None:
        draft.clear_timer(request.timer_id)
        return Stale()
    limit = passed_limit(pending, row, draft.now_ms)
    if limit is not None:
        pass_limit(draft, pending, row, limit)
        return Done()
    if request.timer_id == activity.timer_id(activity.SCHEDULE_TO_START, scheduled_event_id) and not waits(row):
        draft.clear_timer(request.timer_id)
    return Stale()


def waits(row: TaskRow) -> bool:
    """No worker took the activity yet, or the one that did gave it back untouched."""
    return row.attempt == FIRST_ATTEMPT and not row.leased()


def passed_limit(pending: Activity, row: TaskRow, now_ms: int) -> TimeoutType.ValueType | None:
    """The final limit that has passed, if one has."""
    if 0 < activity.closes_until_ms(pending) <= now_ms:
        return common.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE
    if waits(row) and 0 < activity.starts_until_ms(pending) <= now_ms:
        return common.TIMEOUT_TYPE_SCHEDULE_TO_START
    return None


def pass_limit(draft: Draft, pending: Activity, row: TaskRow, limit: TimeoutType.ValueType) -> None:
    """Close the activity for good: a final limit passed."""
    of = f"{draft.state.workflow_id}/{pending.activity_id}"
    if limit == common.TIMEOUT_TYPE_SCHEDULE_TO_START:
        allowed = format_ms(pending.schedule_to_start_timeout_ms)
        message = f"no worker took activity {of} within {allowed} (schedule_to_start_timeout)"
    else:
        allowed = format_ms(pending.schedule_to_close_timeout_ms)
        message = f"activity {of} did not close within {allowed} (schedule_to_close_timeout)"
    _time_out(draft, pending, row, kind=limit, message=message, retry_state=common.RETRY_STATE_TIMEOUT)


def expire_attempt(draft: Draft, pending: Activity, row: TaskRow) -> None:
    """The lease of an attempt ran out: the next attempt, or the end of the activity."""
    of = f"{draft.state.workflow_id}/{pending.activity_id}"
    if draft.now_ms >= row.attempt_expires_at_ms:
        kind: TimeoutType.ValueType = common.TIMEOUT_TYPE_START_TO_CLOSE
        allowed = format_ms(pending.start_to_close_timeout_ms)
        message = f"attempt {row.attempt} at activity {of} took longer than {allowed} (start_to_close_timeout)"
    else:
        kind = common.TIMEOUT_TYPE_HEARTBEAT
        allowed = format_ms(pending.heartbeat_timeout_ms)
        message = f"attempt {row.attempt} at activity {of} sent no heartbeat for {allowed} (heartbeat_timeout)"
    details = lease.details(row)
    failure = timed_out(kind, message)
    verdict = retry.after_failure(
        pending.retry_policy,
        failure,
        attempt=row.attempt,
        now_ms=draft.now_ms,
        deadline_ms=activity.closes_until_ms(pending),
    )
    match verdict:
        case retry.TryAgain(delay_ms):
            try_again(draft, row, failure, details, delay_ms)
        case retry.GiveUp(retry_state):
            _time_out(draft, pending, row, kind=kind, message=message, retry_state=retry_state)


def try_again(draft: Draft, row: TaskRow, failure: Failure, details: TaskDetails, delay_ms: int) -> None:
    """The next attempt waits; `failure` and `details` go with it."""
    details.last_failure.CopyFrom(failure)
    lease.give_back(
        draft,
        row,
        attempt=row.attempt + 1,
        visible_at_ms=draft.now_ms + delay_ms,
        details=lease.encoded(details),
    )


def _time_out(
    draft: Draft,
    pending: Activity,
    row: TaskRow,
    *,
    kind: TimeoutType.ValueType,
    message: str,
    retry_state: RetryState.ValueType,
) -> None:
    details = lease.details(row)
    workflow_task.write_started(draft)
    started_event_id = activity.append_started(draft, row, details) if row.leased() else 0
    attributes = ActivityTaskTimedOutEventAttributes(
        failure=_closing_failure(kind, message, details),
        scheduled_event_id=row.scheduled_event_id,
        started_event_id=started_event_id,
        retry_state=retry_state,
    )
    draft.append(history.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT, activity_task_timed_out=attributes)
    activity.closed(draft, pending, row)


def _closing_failure(kind: TimeoutType.ValueType, message: str, details: TaskDetails) -> Failure:
    """With what is known of the last attempt. Where both do not fit one event, the heartbeat details are left out."""
    cause = details.last_failure if details.HasField("last_failure") else None
    heartbeat_details = details.heartbeat_details if details.HasField("heartbeat_details") else None
    failure = timed_out(kind, message, heartbeat_details=heartbeat_details, cause=cause)
    if failure.ByteSize() > EVENT_SIZE_BYTES - _AROUND_FAILURE_BYTES:
        failure.timeout_failure_info.ClearField("last_heartbeat_details")
    return failure

"""Activity tasks between two reports: delivered, out of time, given back. The state table is in activity.py."""

from towline.core import activity, lease
from towline.core.activity_timeout import FIRST_ATTEMPT, expire_attempt, pass_limit, passed_limit
from towline.core.decision import Delivered, Done, Outcome, Stale
from towline.core.draft import Draft
from towline.core.request import DeliverTask, LeaseExpired, ReleaseTask
from towline.core.task import TaskRow


def deliver(draft: Draft, request: DeliverTask, row: TaskRow) -> Outcome:
    """Lease the task to a poller, unless a limit passed that nobody has reported yet."""
    pending = draft.state.activities.get(row.scheduled_event_id)
    if pending is None:
        draft.ack(row)
        return Stale()
    if lease.live(row, draft.now_ms):
        return Stale()
    limit = passed_limit(pending, row, draft.now_ms)
    if limit is not None:
        pass_limit(draft, pending, row, limit)
        return Stale()
    if row.leased():
        expire_attempt(draft, pending, row)
        return Stale()
    if row.visible_at_ms > draft.now_ms:
        return Stale()
    ends_at_ms = draft.now_ms + pending.start_to_close_timeout_ms
    closes_until_ms = activity.closes_until_ms(pending)
    attempt_expires_at_ms = min(ends_at_ms, closes_until_ms) if closes_until_ms else ends_at_ms
    details = lease.details(row)
    details.identity = request.identity
    if row.attempt == FIRST_ATTEMPT and pending.schedule_to_start_timeout_ms:
        draft.clear_timer(activity.timer_id(activity.SCHEDULE_TO_START, row.scheduled_event_id))
    leased = draft.change(
        row,
        lease_token=lease.next_token(row, request.lease_token),
        lease_expires_at_ms=lease_until_ms(pending.heartbeat_timeout_ms, draft.now_ms, attempt_expires_at_ms),
        started_at_ms=draft.now_ms,
        attempt_expires_at_ms=attempt_expires_at_ms,
        details=lease.encoded(details),
    )
    return Delivered(leased)


def lease_until_ms(heartbeat_timeout_ms: int, now_ms: int, attempt_expires_at_ms: int) -> int:
    """When the lease ends if no further sign of life comes."""
    if not heartbeat_timeout_ms:
        return attempt_expires_at_ms
    return min(attempt_expires_at_ms, now_ms + heartbeat_timeout_ms)


def expire(draft: Draft, request: LeaseExpired, row: TaskRow) -> Outcome:
    """The worker did not report, or sent no heartbeat, in time."""
    pending = draft.state.activities.get(row.scheduled_event_id)
    if pending is None:
        draft.ack(row)
        return Stale()
    if row.lease_token != request.lease_token or not lease.lapsed(row, draft.now_ms):
        return Stale()
    limit = passed_limit(pending, row, draft.now_ms)
    if limit is not None:
        pass_limit(draft, pending, row, limit)
    else:
        expire_attempt(draft, pending, row)
    return Done()


def release(draft: Draft, request: ReleaseTask, row: TaskRow) -> Outcome:
    """The holder never began with it: it waits again as if it had not been delivered."""
    pending = draft.state.activities.get(row.scheduled_event_id)
    if pending is not None and row.attempt == FIRST_ATTEMPT and pending.schedule_to_start_timeout_ms:
        timer_id = activity.timer_id(activity.SCHEDULE_TO_START, row.scheduled_event_id)
        draft.set_timer(timer_id, activity.starts_until_ms(pending))
    lease.give_back(draft, row, attempt=row.attempt, visible_at_ms=draft.now_ms)
    return Done()

"""The lease: the exclusive, expiring right to work on one delivered task."""

from typing import Any

from towline.api.token_pb2 import TaskDetails, TaskToken
from towline.core.draft import Draft
from towline.core.refusal import Refused, fenced
from towline.core.task import TaskRow


def live(row: TaskRow, now_ms: int) -> bool:
    """Somebody holds the task. A lease ends at its expiry, not after it."""
    return now_ms < row.lease_expires_at_ms


def lapsed(row: TaskRow, now_ms: int) -> bool:
    """Somebody held the task and let the lease run out, and nobody has said so yet."""
    return 0 < row.lease_expires_at_ms <= now_ms


def held(draft: Draft, token: TaskToken) -> TaskRow:
    """The row of the task that the token's bearer holds. Raises Refused (FAILED_PRECONDITION) if it holds none."""
    if not draft.open:
        state = draft.state
        raise fenced(
            f"workflow {state.workflow_id} (run {state.run_id}) is closed ({state.status_name()}): drop the work"
        )
    row = draft.run.tasks.get(token.task_id)
    if row is None or row.scheduled_event_id != token.scheduled_event_id:
        raise fenced(f"task {token.task_id} is no longer pending: drop its work")
    if row.lease_token != token.lease_token:
        raise fenced(
            f"lease {token.lease_token} of task {token.task_id} is stale, it was delivered again since: drop its work"
        )
    if not live(row, draft.now_ms):
        raise lost(row)
    return row


def lost(row: TaskRow) -> Refused:
    """The refusal for a lease that its holder let run out or gave back."""
    return fenced(f"lease {row.lease_token} of task {row.task_id} has ended: drop its work")


def next_token(row: TaskRow, offered: int) -> int:
    """The token of the next delivery: the offered one, or larger where the task has had such a one already."""
    return max(offered, row.lease_token + 1)


def give_back(draft: Draft, row: TaskRow, *, attempt: int, visible_at_ms: int, **changes: Any) -> None:
    """End the lease; the task waits until `visible_at_ms` for its next delivery, as that attempt."""
    draft.change(
        row,
        attempt=attempt,
        visible_at_ms=visible_at_ms,
        lease_expires_at_ms=0,
        attempt_expires_at_ms=0,
        started_event_id=0,
        **changes,
    )


def details(row: TaskRow) -> TaskDetails:
    """The row's details, decoded; the caller's to change."""
    return TaskDetails.FromString(row.details)


def encoded(details: TaskDetails) -> bytes:
    """The details as a row has them. Fields that this version does not know are left out: see `draft.new_event`."""
    details.DiscardUnknownFields()
    return details.SerializeToString()

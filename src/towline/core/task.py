"""Tasks and timers as rows: what a decision asks the store to keep besides history.

A row is a hint derived from history (law 1), except for what lives nowhere else: attempt, lease, last failure and
heartbeat details. Rows are immutable; a change is a new row in its place.
"""

from dataclasses import dataclass

WORKFLOW_QUEUE_PREFIX = "wf:"
ACTIVITY_QUEUE_PREFIX = "act:"


def workflow_queue(task_queue: str) -> str:
    """The queue on which the workflow tasks of a task queue wait."""
    return WORKFLOW_QUEUE_PREFIX + task_queue


def activity_queue(task_queue: str) -> str:
    """The queue on which the activity tasks of a task queue wait."""
    return ACTIVITY_QUEUE_PREFIX + task_queue


def workflow_task_id(run_id: str, scheduled_event_id: int) -> str:
    """The id of the task for the workflow task scheduled by event S."""
    return f"{run_id}/wt/{scheduled_event_id}"


def activity_task_id(run_id: str, scheduled_event_id: int) -> str:
    """The id of the task for the activity scheduled by that event."""
    return f"{run_id}/a/{scheduled_event_id}"


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task on a queue. Keyed by (run_id, task_id); `task_id` alone is unique too, as it starts with the run id.

    Leased: `lease_expires_at_ms > 0`. Ready: not leased and `visible_at_ms <= now`.
    """

    namespace: str
    queue: str  # with its kind: "wf:<task queue>" or "act:<task queue>"
    task_id: str
    run_id: str
    workflow_id: str
    scheduled_event_id: int
    attempt: int  # the attempt that runs or is next, from 1
    visible_at_ms: int  # not to be delivered before
    lease_token: int = 0  # k of the latest delivery; 0: never delivered. Only grows.
    lease_expires_at_ms: int = 0  # 0: not leased
    started_event_id: int = 0  # workflow tasks: T of the latest delivery, written or not (see core/workflow_task.py)
    started_at_ms: int = 0  # when the latest delivery happened
    attempt_expires_at_ms: int = 0  # activities: when the running attempt must be over; a heartbeat does not move it
    priority: int = 3  # 1 first, 5 last
    details: bytes = b""  # an encoded TaskDetails

    def leased(self) -> bool:
        """Somebody holds it, or held it and let the lease run out."""
        return self.lease_expires_at_ms > 0


@dataclass(frozen=True, slots=True)
class TimerRow:
    """Something a run asked to be told at a time. Keyed by (run_id, timer_id)."""

    namespace: str
    run_id: str
    workflow_id: str
    timer_id: str  # "<what>/<scheduled event id>", for example "schedule_to_close/5"
    fire_at_ms: int

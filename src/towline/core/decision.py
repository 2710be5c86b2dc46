"""What a decision consists of: the one thing that passes from the core to the shell."""

from dataclasses import dataclass, field

from towline.api.history_pb2 import HistoryEvent
from towline.core.task import TaskRow, TimerRow


@dataclass(frozen=True, slots=True)
class PutTask:
    """Put a new task on its queue."""

    row: TaskRow


@dataclass(frozen=True, slots=True)
class ChangeTask:
    """Replace a task's row (leased, extended, given back, to be tried again)."""

    row: TaskRow


@dataclass(frozen=True, slots=True)
class AckTask:
    """Remove a task."""

    row: TaskRow  # as it was


@dataclass(frozen=True, slots=True)
class SetTimer:
    """Set a timer, or move it if it is set."""

    row: TimerRow


@dataclass(frozen=True, slots=True)
class ClearTimer:
    """Remove a timer. Nothing happens if it is not set."""

    run_id: str
    timer_id: str


Effect = PutTask | ChangeTask | AckTask | SetTimer | ClearTimer


@dataclass(frozen=True, slots=True)
class Delivered:
    """The task was leased. `row` is the lease; the shell answers the poll with it once the batch is durable."""

    row: TaskRow


@dataclass(frozen=True, slots=True)
class Stale:
    """History says that there is nothing to do. What the effects acknowledge is a leftover."""


@dataclass(frozen=True, slots=True)
class HeartbeatRecorded:
    """The lease was extended."""

    cancel_requested: bool


@dataclass(frozen=True, slots=True)
class Done:
    """The request was carried out."""


Outcome = Delivered | Stale | HeartbeatRecorded | Done


@dataclass(frozen=True, slots=True)
class Decision:
    """Events, and effects besides them.

    The shell must, in this order: commit `events` and `effects` together or not at all, under the condition that the
    stored run is still the one that the decision was made on, with its history, tasks and timers; only then answer the
    request with `outcome`, hand out tasks and wake those who wait for history. If the condition fails nothing was
    written: load the run again and decide again.
    """

    events: list[HistoryEvent] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    outcome: Outcome = field(default_factory=Done)

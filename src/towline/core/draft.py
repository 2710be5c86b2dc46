"""A decision while it is being made."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from towline.api.common_pb2 import WORKFLOW_EXECUTION_STATUS_RUNNING
from towline.api.history_pb2 import EventType, HistoryEvent
from towline.core.decision import AckTask, ChangeTask, ClearTimer, Effect, PutTask, SetTimer
from towline.core.state import Run, RunState
from towline.core.task import TaskRow, TimerRow
from towline.core.validation import check_size
from towline.limits import EVENT_SIZE_BYTES


class Draft:
    """Events and effects in the making, and the few facts that they change. The run itself is never touched.

    Each task row of the run is changed or acknowledged once at most.
    """

    __slots__ = (
        "effects",
        "events",
        "new_activity_ids",
        "next_event_id",
        "now_ms",
        "open",
        "run",
        "size_bytes",
        "state",
        "workflow_task_pending",
    )

    def __init__(self, run: Run, now_ms: int) -> None:
        self.run: Final[Run] = run
        self.state: Final[RunState] = run.state
        self.now_ms: Final[int] = now_ms
        self.start_over()

    def start_over(self) -> None:
        """Forget all that was drafted."""
        self.events: list[HistoryEvent] = []
        self.size_bytes = 0  # the events' encoded sizes, added up
        self.effects: list[Effect] = []
        self.next_event_id = self.state.last_event_id + 1
        self.open = self.state.status == WORKFLOW_EXECUTION_STATUS_RUNNING
        self.workflow_task_pending = self.state.workflow_task is not None
        self.new_activity_ids: set[str] = set()

    def append(self, event_type: EventType.ValueType, **attributes: Any) -> int:
        """Append an event that happens now; `attributes` is its one attributes field. Returns its id.

        Raises Refused (INVALID_ARGUMENT) for an event that no answer could carry.
        """
        return self.append_at(self.now_ms, event_type, **attributes)

    def append_at(self, event_time_ms: int, event_type: EventType.ValueType, **attributes: Any) -> int:
        """Append an event that happened at that time, like `append`."""
        event_id = self.next_event_id
        event, size_bytes = new_event(event_id, event_time_ms, event_type, **attributes)
        self.events.append(event)
        self.size_bytes += size_bytes
        self.next_event_id = event_id + 1
        return event_id

    def put(self, row: TaskRow) -> None:
        """Put a new task on its queue."""
        self.effects.append(PutTask(row))

    def change(self, row: TaskRow, **changes: Any) -> TaskRow:
        """Change some columns of a task. Returns the row as it will be."""
        changed = replace(row, **changes)
        self.effects.append(ChangeTask(changed))
        return changed

    def ack(self, row: TaskRow) -> None:
        """Remove a task."""
        self.effects.append(AckTask(row))

    def set_timer(self, timer_id: str, fire_at_ms: int) -> None:
        """Ask to be told at that time."""
        state = self.state
        self.effects.append(SetTimer(TimerRow(state.namespace, state.run_id, state.workflow_id, timer_id, fire_at_ms)))

    def clear_timer(self, timer_id: str) -> None:
        """Ask no longer."""
        self.effects.append(ClearTimer(self.state.run_id, timer_id))

    def close(self, timer_ids: Sequence[str]) -> None:
        """The run ends with what was appended: no task of it and none of these timers stays."""
        self.open = False
        self.workflow_task_pending = False
        self.effects = [AckTask(row) for row in self.run.tasks.values()]
        for timer_id in timer_ids:
            self.clear_timer(timer_id)


def new_event(
    event_id: int, event_time_ms: int, event_type: EventType.ValueType, **attributes: Any
) -> tuple[HistoryEvent, int]:
    """An event and its encoded size, in bytes. Raises Refused (INVALID_ARGUMENT) for one that no answer could carry.

    Each field has a limit of its own, so that this one is a net below them. Fields that this version does not know have
    none: they are left out, as they could nest deeper than any reader of the history reads.
    """
    event = HistoryEvent(event_id=event_id, event_time_ms=event_time_ms, event_type=event_type, **attributes)
    event.DiscardUnknownFields()
    size_bytes = event.ByteSize()
    if size_bytes > EVENT_SIZE_BYTES:
        name = EventType.Name(event_type).removeprefix("EVENT_TYPE_")
        advice = "send less in one request"
        check_size(size_bytes, f"event {event_id} ({name})", limit_bytes=EVENT_SIZE_BYTES, advice=advice)
    return event, size_bytes

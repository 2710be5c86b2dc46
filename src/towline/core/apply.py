"""What an event does to the state, and what effects do to the rows: tables, each entry in its noun's file."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, assert_never

from towline.api import history_pb2 as history
from towline.api.history_pb2 import EventType, HistoryEvent
from towline.core import activity, execution, signal, workflow_task
from towline.core.decision import AckTask, ChangeTask, ClearTimer, Effect, PutTask, SetTimer
from towline.core.state import CorruptHistory, RunState
from towline.core.task import TaskRow

__all__ = ["CorruptHistory", "apply", "fold", "perform"]

# Every event type but the first event's.
_APPLY: Final[Mapping[int, Callable[[RunState, HistoryEvent], None]]] = {
    history.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED: execution.apply_completed,
    history.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED: execution.apply_failed,
    history.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED: execution.apply_terminated,
    history.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED: signal.apply_signaled,
    history.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED: workflow_task.apply_scheduled,
    history.EVENT_TYPE_WORKFLOW_TASK_STARTED: workflow_task.apply_started,
    history.EVENT_TYPE_WORKFLOW_TASK_COMPLETED: workflow_task.apply_completed,
    history.EVENT_TYPE_WORKFLOW_TASK_FAILED: workflow_task.apply_failed,
    history.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED: activity.apply_scheduled,
    history.EVENT_TYPE_ACTIVITY_TASK_STARTED: activity.apply_started,
    history.EVENT_TYPE_ACTIVITY_TASK_COMPLETED: activity.apply_completed,
    history.EVENT_TYPE_ACTIVITY_TASK_FAILED: activity.apply_failed,
    history.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT: activity.apply_timed_out,
}


def apply(state: RunState | None, event: HistoryEvent) -> RunState:
    """The state after the event. `state` is changed and given back; None: the event is the first.

    Raises CorruptHistory for an event that cannot come next.
    """
    if state is None:
        if event.event_id != 1 or event.event_type != history.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
            raise CorruptHistory(f"history begins with event {event.event_id}, {_name(event)}, not with a start")
        return execution.started_state(event)
    if event.event_id != state.last_event_id + 1:
        raise CorruptHistory(f"run {state.run_id}: event {event.event_id} follows event {state.last_event_id}")
    handler = _APPLY.get(event.event_type)
    if handler is None:
        raise CorruptHistory(
            f"run {state.run_id}: event {event.event_id} is of type {_name(event)}, which this version does not know: "
            "was the history written by a newer one?"
        )
    handler(state, event)
    state.last_event_id = event.event_id
    state.history_size_bytes += event.ByteSize()
    return state


def fold(events: Iterable[HistoryEvent]) -> RunState:
    """The state after all these events, of which the first is the run's first. Raises CorruptHistory."""
    state: RunState | None = None
    for event in events:
        state = apply(state, event)
    if state is None:
        raise CorruptHistory("the history is empty")
    return state


def perform(tasks: dict[str, TaskRow], effects: Iterable[Effect]) -> None:
    """Change a run's rows as the store will. Raises ValueError for effects that do not fit them: a rule has a bug."""
    for effect in effects:
        match effect:
            case PutTask(row):
                if row.task_id in tasks:
                    raise ValueError(f"task {row.task_id} is there already")
                tasks[row.task_id] = row
            case ChangeTask(row):
                _expect(tasks, row.task_id)
                tasks[row.task_id] = row
            case AckTask(row):
                _expect(tasks, row.task_id)
                del tasks[row.task_id]
            case SetTimer() | ClearTimer():
                pass
            case _:
                assert_never(effect)


def _expect(tasks: Mapping[str, TaskRow], task_id: str) -> None:
    if task_id not in tasks:
        raise ValueError(f"task {task_id} is gone, no decision can change it")


def _name(event: HistoryEvent) -> str:
    try:
        return EventType.Name(event.event_type).removeprefix("EVENT_TYPE_")
    except ValueError:
        return str(event.event_type)

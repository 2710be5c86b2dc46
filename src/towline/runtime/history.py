"""A run's history, cut into the workflow tasks that it went through."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from towline.api.history_pb2 import (
    EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
    EVENT_TYPE_ACTIVITY_TASK_STARTED,
    EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
    EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
    EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
    EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
    EVENT_TYPE_WORKFLOW_TASK_FAILED,
    EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
    EVENT_TYPE_WORKFLOW_TASK_STARTED,
    HistoryEvent,
)
from towline.exceptions import TowlineError

# A worker's own steps; workflow code never hears of them.
_BOOKKEEPING: Final = frozenset(
    {
        EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
        EVENT_TYPE_WORKFLOW_TASK_FAILED,
        EVENT_TYPE_ACTIVITY_TASK_STARTED,
        EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
    }
)
# What commands become. They stand after the WorkflowTaskCompleted that brought the commands.
_OF_COMMANDS: Final = frozenset(
    {
        EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
        EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
        EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
    }
)


class BrokenHistory(TowlineError):
    """The history cannot be the whole history of the task: a fault of the server, or of whoever read it."""


@dataclass(slots=True)
class TaskSlice:
    """One workflow task, as its worker saw it.

    `news` are the events since the task before it; `recorded` the events of the commands that it was completed with,
    empty for the task that waits for its completion now (`completed_event_id` is 0 then). Attempts that failed or
    timed out have no slice: what they did not decide is news to the next one.
    """

    # Its WorkflowTaskStarted.
    started: HistoryEvent
    news: list[HistoryEvent]
    completed_event_id: int = 0
    recorded: list[HistoryEvent] = field(default_factory=list)


def split(history: Iterable[HistoryEvent], started_event_id: int) -> list[TaskSlice]:
    """The workflow tasks up to the one that was started by `started_event_id`, which comes last.

    Events after that one are not looked at. Raises BrokenHistory if the history does not reach that far.
    """
    slices: list[TaskSlice] = []
    started: dict[int, HistoryEvent] = {}
    news: list[HistoryEvent] = []
    for event in history:
        kind = event.event_type
        if kind == EVENT_TYPE_WORKFLOW_TASK_STARTED:
            started[event.event_id] = event
        elif kind == EVENT_TYPE_WORKFLOW_TASK_COMPLETED:
            last = event.workflow_task_completed.started_event_id
            seen, news = _seen(news, last)
            slices.append(TaskSlice(_started(started, last), seen, event.event_id))
        elif kind in _OF_COMMANDS:
            _last(slices, event).recorded.append(event)
        elif kind not in _BOOKKEEPING:
            news.append(event)
        if event.event_id >= started_event_id:
            break
    slices.append(TaskSlice(_started(started, started_event_id), news))
    return slices


def _seen(news: list[HistoryEvent], started: int) -> tuple[list[HistoryEvent], list[HistoryEvent]]:
    """What came before the task was started, and what came while it ran."""
    if not news or news[-1].event_id < started:
        return news, []
    return [event for event in news if event.event_id < started], [event for event in news if event.event_id > started]


def _started(started: dict[int, HistoryEvent], event_id: int) -> HistoryEvent:
    if event_id not in started:
        raise BrokenHistory(
            f"event {event_id} is not in the history as WorkflowTaskStarted: read the history again, whole"
        )
    return started[event_id]


def _last(slices: Sequence[TaskSlice], event: HistoryEvent) -> TaskSlice:
    if not slices:
        raise BrokenHistory(
            f"event {event.event_id} comes from a command, but no workflow task was completed before it"
        )
    return slices[-1]

"""What workflow code asks for, held against what history says it asked for."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Protocol

from towline.api.command_pb2 import Command
from towline.api.history_pb2 import HistoryEvent
from towline.runtime.history import TaskSlice
from towline.runtime.names import event_name
from towline.runtime.source_line import SourceLine
from towline.workflow.errors import NondeterminismError


class Asked(Protocol):
    """One thing that the code asked for. Each kind of command has a class with these."""

    # None: not asked by a line of the user's.
    source: SourceLine | None
    # What the server is told.
    command: Command

    def describe(self) -> str:
        """For people: kind, id and type."""

    def matches(self, event: HistoryEvent) -> bool:
        """True: the event is what the server made of this command."""

    def recorded(self, event: HistoryEvent) -> None:
        """The event is this command's."""


def match(asked: Sequence[Asked], task: TaskSlice) -> None:
    """Tell each command its event. Raises NondeterminismError at the first that differs."""
    for one, event in zip_longest(asked, task.recorded):
        if event is None:
            raise NondeterminismError(
                f"history has nothing more of the workflow task that event {task.completed_event_id} completed, but "
                f"the code asked for {_ask(one)}. {_ADVICE}"
            )
        if one is None:
            raise NondeterminismError(
                f"event {event.event_id} is {_event(event)}, but the code asked for nothing there. {_ADVICE}"
            )
        if not one.matches(event):
            raise NondeterminismError(
                f"event {event.event_id} is {_event(event)}, but the code asked for {_ask(one)}. {_ADVICE}"
            )
        one.recorded(event)


_ADVICE = (
    "The code differs from the one that wrote this history, or depends on something that is not in it: "
    "bring the old code back, or let it decide by its arguments and results alone"
)


def _ask(one: Asked) -> str:
    return f"{one.describe()} at {one.source}" if one.source is not None else one.describe()


def _event(event: HistoryEvent) -> str:
    if event.HasField("activity_task_scheduled"):
        activity = event.activity_task_scheduled
        return f"{event_name(event)} of activity {activity.activity_id!r} of type {activity.activity_type!r}"
    return event_name(event)

"""A run's history for the eye: a heading, one row for each event, a closing line."""

from datetime import tzinfo
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from towline.api.history_pb2 import HistoryEvent
from towline.api.workflow_service_pb2 import WorkflowExecutionInfo
from towline.cli.event_details import EventDetails, event_name
from towline.cli.moments import day_and_time, time_of_day
from towline.cli.run_view import heading
from towline.cli.screen import put

# Below this many columns the details go under the event's name.
_WIDE: Final = 96
_NAME_WIDTH: Final = len("WorkflowExecutionTerminated")
_TIME_WIDTH: Final = len("14:03:05.123")
_NARROW_INDENT: Final = 6
_WIDE_INDENT: Final = _NARROW_INDENT + _TIME_WIDTH + 2 + _NAME_WIDTH + 2


class HistoryView:
    """Prints a history event by event, so that it looks the same whole and while it grows."""

    def __init__(self, console: Console, *, zone: tzinfo | None = None) -> None:
        self._console = console
        self._zone = zone
        indent = _WIDE_INDENT if console.width >= _WIDE else _NARROW_INDENT
        self._details = EventDetails(width=console.width - indent)
        self._day = ""

    def begin(self, info: WorkflowExecutionInfo) -> None:
        """Print what run this is."""
        put(self._console, heading(info, zone=self._zone), "")

    def add(self, event: HistoryEvent) -> None:
        """Print one event, which is the next one of the run."""
        day = day_and_time(event.event_time_ms, self._zone)[:10]
        if self._day and day != self._day:
            put(self._console, Padding(Text(day, style="dim"), (0, 0, 0, _NARROW_INDENT)))
        self._day = day
        put(self._console, self._row(event))

    def _row(self, event: HistoryEvent) -> RenderableType:
        identifier = Text(str(event.event_id), style="dim")
        time = Text(time_of_day(event.event_time_ms, self._zone), style="dim")
        name = Text(event_name(event), style=_style(event))
        lines = self._details.lines(event)
        details = [Text(line, style=_detail_style(event, index)) for index, line in enumerate(lines)]
        if self._console.width >= _WIDE:
            return _wide_row(identifier, time, name, details)
        if _is_routine(event):
            return _narrow_row(identifier, Text("  ").join([name, time, *details]), [])
        return _narrow_row(identifier, Text.assemble(name, "  ", time), details)


def _wide_row(identifier: Text, time: Text, name: Text, details: list[Text]) -> RenderableType:
    row = Table.grid(padding=(0, 2, 0, 0))
    row.add_column(width=4, justify="right")
    row.add_column(width=_TIME_WIDTH, no_wrap=True)
    row.add_column(width=_NAME_WIDTH, no_wrap=True)
    row.add_column(overflow="fold")
    row.add_row(identifier, time, name, Group(*details))
    return row


def _narrow_row(identifier: Text, first: Text, details: list[Text]) -> RenderableType:
    row = Table.grid(padding=(0, 2, 0, 0))
    row.add_column(width=4, justify="right")
    row.add_column(overflow="fold")
    row.add_row(identifier, Group(first, *details))
    return row


def _style(event: HistoryEvent) -> str:
    name = event_name(event)
    if _is_bad(event):
        return "bold red"
    if _is_routine(event):
        return "dim"
    if name.startswith("WorkflowExecution"):
        return "bold magenta" if name.endswith("Signaled") else "bold green"
    return "green" if name.endswith("Completed") else "cyan"


def _detail_style(event: HistoryEvent, index: int) -> str:
    if _is_bad(event):
        return "red"
    return "dim" if index or _is_routine(event) else ""


def _is_bad(event: HistoryEvent) -> bool:
    return event_name(event).endswith(("Failed", "TimedOut", "Terminated"))


def _is_routine(event: HistoryEvent) -> bool:
    """What happens all the time, and seldom is what somebody looks for."""
    return event_name(event).startswith("WorkflowTask") and not _is_bad(event)

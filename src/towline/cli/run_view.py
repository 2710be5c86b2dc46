"""Runs at a glance, for the eye."""

from collections.abc import Sequence
from datetime import tzinfo

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from towline.api.common_pb2 import WorkflowExecutionStatus
from towline.api.workflow_service_pb2 import WorkflowExecutionInfo
from towline.cli.moments import day_and_time, span
from towline.cli.text import one_line


def status_name(status: WorkflowExecutionStatus.ValueType) -> str:
    """`running`, `completed`, `timed out`."""
    name = WorkflowExecutionStatus.Name(status).removeprefix("WORKFLOW_EXECUTION_STATUS_")
    return name.replace("_", " ").lower()


def status_text(status: WorkflowExecutionStatus.ValueType) -> Text:
    """The status in its colour."""
    name = status_name(status)
    style = {"running": "bold cyan", "completed": "bold green"}.get(name, "bold red")
    return Text(name, style=style)


def heading(info: WorkflowExecutionInfo, *, zone: tzinfo | None = None) -> RenderableType:
    """What runs and where it stands; which run it is; where and since when."""
    first = Text.assemble(
        (one_line(info.execution.workflow_id), "bold"),
        ("  ·  ", "dim"),
        one_line(info.workflow_type),
        ("  ·  ", "dim"),
        status_text(info.status),
        _duration(info),
    )
    which = Text(f"run {one_line(info.execution.run_id)}", style="dim")
    where = Text(f"on {one_line(info.task_queue)}  ·  started {day_and_time(info.start_time_ms, zone)}", style="dim")
    return Group(first, which, where)


def _duration(info: WorkflowExecutionInfo) -> str:
    return f" after {span(info.close_time_ms - info.start_time_ms)}" if info.close_time_ms else ""


def run_table(infos: Sequence[WorkflowExecutionInfo], *, now_ms: int, zone: tzinfo | None = None) -> RenderableType:
    """One row for each run; ids fold rather than disappear, because people copy them."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("status", no_wrap=True)
    table.add_column("workflow id", overflow="fold")
    table.add_column("type", overflow="fold")
    table.add_column("started", no_wrap=True)
    table.add_column("for", no_wrap=True, justify="right")
    table.add_column("events", no_wrap=True, justify="right")
    for info in infos:
        table.add_row(
            status_text(info.status),
            Text(one_line(info.execution.workflow_id), style="bold"),
            one_line(info.workflow_type),
            Text(day_and_time(info.start_time_ms, zone), style="dim"),
            span((info.close_time_ms or now_ms) - info.start_time_ms),
            str(info.history_length),
        )
    return table

"""What an open run waits for, for the eye."""

from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from towline.api.failure_pb2 import Failure
from towline.api.workflow_service_pb2 import (
    DescribeWorkflowResponse,
    PendingActivityInfo,
    PendingWorkflowTaskInfo,
)
from towline.cli.failures import story
from towline.cli.moments import span
from towline.cli.text import one_line, size
from towline.cli.values import brief_arguments

_INDENT: Final = 2
_HEARTBEAT: Final = "heartbeat: "


def pending(description: DescribeWorkflowResponse, *, now_ms: int, width: int) -> RenderableType:
    """The workflow task and the activities that have not closed, or how the run ended up without any."""
    info = description.info
    parts: list[RenderableType] = [
        Text(f"history: {info.history_length} events, {size(info.history_size_bytes)}", style="dim")
    ]
    if description.HasField("pending_workflow_task"):
        parts.append(_workflow_task(description.pending_workflow_task, now_ms=now_ms))
    parts.extend(_activity(activity, now_ms=now_ms, width=width) for activity in description.pending_activities)
    if len(parts) == 1:
        parts.append(Text("nothing is pending", style="dim"))
    return Group(*parts)


def _workflow_task(task: PendingWorkflowTaskInfo, *, now_ms: int) -> RenderableType:
    state = _state(task.attempt, task.next_attempt_time_ms, now_ms=now_ms, started=task.started)
    title = Text.assemble(("workflow task", "bold"), "  ", state)
    return Group(title, *_failure(task.last_failure if task.HasField("last_failure") else None))


def _activity(activity: PendingActivityInfo, *, now_ms: int, width: int) -> RenderableType:
    state = _state(activity.attempt, activity.next_attempt_time_ms, now_ms=now_ms, started=activity.started)
    title = Text.assemble(
        (f"{one_line(activity.activity_type)} ({one_line(activity.activity_id)})", "bold cyan"), "  ", state
    )
    if activity.last_worker_identity:
        title.append(f"  {one_line(activity.last_worker_identity)}", style="dim")
    lines: list[RenderableType] = [title]
    if activity.heartbeat_details.payloads:
        room = width - _INDENT - len(_HEARTBEAT)
        lines.append(_indented(_HEARTBEAT + brief_arguments(activity.heartbeat_details, room)))
    return Group(*lines, *_failure(activity.last_failure if activity.HasField("last_failure") else None))


def _state(attempt: int, next_attempt_time_ms: int, *, now_ms: int, started: bool) -> Text:
    nth = f", attempt {attempt}" if attempt > 1 else ""
    if started:
        return Text(f"running{nth}", style="green")
    if next_attempt_time_ms > now_ms:
        return Text(f"waits {span(next_attempt_time_ms - now_ms)} until attempt {attempt}", style="yellow")
    return Text(f"waits for a worker{nth}", style="yellow")


def _failure(failure: Failure | None) -> list[RenderableType]:
    if failure is None:
        return []
    first, *causes = story(failure)
    return [_indented(f"last failure: {first}", style="red"), *(_indented(line, style="red") for line in causes)]


def _indented(line: str, *, style: str = "") -> RenderableType:
    return Padding(Text(line, style=style), (0, 0, 0, _INDENT))

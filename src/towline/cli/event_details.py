"""What matters about an event, in a few words: one function for each kind of event."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from towline.api import history_pb2 as events
from towline.api.common_pb2 import Payloads, WorkflowTaskFailedCause
from towline.api.failure_pb2 import Failure
from towline.api.history_pb2 import EventType, HistoryEvent
from towline.cli.failures import story
from towline.cli.moments import span
from towline.cli.text import one_line, shorten, size
from towline.cli.values import brief_arguments

# Longer details than this are cut; `--json` has them whole.
WIDTH: Final = 160
# Less than this says nothing.
_LEAST: Final = 20


def event_name(event: HistoryEvent) -> str:
    """`ActivityTaskScheduled`; for a kind that this version does not know, `Event 42`."""
    if event.event_type not in EventType.values():
        return f"Event {event.event_type}"
    words = EventType.Name(event.event_type).removeprefix("EVENT_TYPE_").split("_")
    return "".join(word.capitalize() for word in words)


class EventDetails:
    """Describes the events of one run. Give it all of them in order: it remembers what was scheduled where."""

    def __init__(self, *, width: int = WIDTH) -> None:
        """`width`: how many characters a line should have at most, so far as values of the user can be cut."""
        self._width = min(width, WIDTH)
        self._activities: dict[int, str] = {}  # activity type and id by scheduled event id

    def lines(self, event: HistoryEvent) -> list[str]:
        """The details, most important first; no line of them is needed to understand the one before."""
        kind = event.WhichOneof("attributes")
        if kind is None:
            return []
        if kind == "activity_task_scheduled":
            scheduled = event.activity_task_scheduled
            self._activities[event.event_id] = (
                f"{one_line(scheduled.activity_type)} ({one_line(scheduled.activity_id)})"
            )
        return [line for line in _DESCRIBE[kind](self, getattr(event, kind)) if line]

    def activity(self, scheduled_event_id: int) -> str:
        """An activity that was scheduled earlier, by type and id: `upper (1)`."""
        return self._activities.get(scheduled_event_id, f"activity of event {scheduled_event_id}")

    def call(self, name: str, arguments: Payloads) -> str:
        """`upper("hi")`."""
        name = one_line(name)
        return f"{name}({brief_arguments(arguments, max(_LEAST, self._width - len(name) - 2))})"

    def returned(self, result: Payloads, *, by: str = "") -> str:
        """`upper (1) → "HI"`."""
        start = f"{by} → ".lstrip()
        return start + (brief_arguments(result, max(_LEAST, self._width - len(start))) or "nothing")

    def failed(self, failure: Failure) -> list[str]:
        """The failure and its causes, a line each."""
        return story(failure)


def _started(details: EventDetails, event: events.WorkflowExecutionStartedEventAttributes) -> list[str]:
    return [details.call(event.workflow_type, event.input), f"on {one_line(event.task_queue)}{_by(event.identity)}"]


def _completed(details: EventDetails, event: events.WorkflowExecutionCompletedEventAttributes) -> list[str]:
    return [details.returned(event.result)]


def _failed(details: EventDetails, event: events.WorkflowExecutionFailedEventAttributes) -> list[str]:
    return details.failed(event.failure)


def _terminated(details: EventDetails, event: events.WorkflowExecutionTerminatedEventAttributes) -> list[str]:
    return [shorten(one_line(event.reason), WIDTH) + _by(event.identity)]


def _signaled(details: EventDetails, event: events.WorkflowExecutionSignaledEventAttributes) -> list[str]:
    return [details.call(event.signal_name, event.input) + _by(event.identity)]


def _task_scheduled(details: EventDetails, event: events.WorkflowTaskScheduledEventAttributes) -> list[str]:
    return [_attempt(event.attempt)]


def _task_started(details: EventDetails, event: events.WorkflowTaskStartedEventAttributes) -> list[str]:
    hint = f"history is {size(event.history_size_bytes)}: continue as new" if event.suggest_continue_as_new else ""
    return [_by(event.identity).strip(), hint]


def _task_completed(details: EventDetails, event: events.WorkflowTaskCompletedEventAttributes) -> list[str]:
    return [_by(event.identity).strip()]


def _task_failed(details: EventDetails, event: events.WorkflowTaskFailedEventAttributes) -> list[str]:
    cause = WorkflowTaskFailedCause.Name(event.cause).removeprefix("WORKFLOW_TASK_FAILED_CAUSE_")
    return [cause.replace("_", " ").lower() + _by(event.identity), *details.failed(event.failure)]


def _activity_scheduled(details: EventDetails, event: events.ActivityTaskScheduledEventAttributes) -> list[str]:
    limits = {
        "start to close": event.start_to_close_timeout_ms,
        "schedule to close": event.schedule_to_close_timeout_ms,
        "schedule to start": event.schedule_to_start_timeout_ms,
        "heartbeat": event.heartbeat_timeout_ms,
    }
    shown = ", ".join(f"{name} {span(limit_ms)}" for name, limit_ms in limits.items() if limit_ms)
    return [details.call(event.activity_type, event.input), f"id {one_line(event.activity_id)} · {shown}".rstrip(" ·")]


def _activity_started(details: EventDetails, event: events.ActivityTaskStartedEventAttributes) -> list[str]:
    name = details.activity(event.scheduled_event_id)
    first = f"{name}, {_attempt(event.attempt)}".rstrip(", ") + _by(event.identity)
    last = f"attempt before failed: {', '.join(story(event.last_failure))}" if event.HasField("last_failure") else ""
    return [first, shorten(last, WIDTH)]


def _activity_completed(details: EventDetails, event: events.ActivityTaskCompletedEventAttributes) -> list[str]:
    return [details.returned(event.result, by=details.activity(event.scheduled_event_id))]


def _activity_failed(details: EventDetails, event: events.ActivityTaskFailedEventAttributes) -> list[str]:
    first, *causes = details.failed(event.failure)
    return [f"{details.activity(event.scheduled_event_id)}  {first}", *causes]


def _activity_timed_out(details: EventDetails, event: events.ActivityTaskTimedOutEventAttributes) -> list[str]:
    first, *causes = details.failed(event.failure)
    return [f"{details.activity(event.scheduled_event_id)}  {first}", *causes]


def _by(identity: str) -> str:
    return f" by {one_line(identity)}" if identity else ""


def _attempt(attempt: int) -> str:
    return f"attempt {attempt}" if attempt > 1 else ""


# By the name of the attribute in HistoryEvent; a test sees to it that every kind has its function here.
_DESCRIBE: Final[Mapping[str, Callable[[EventDetails, Any], list[str]]]] = {
    "workflow_execution_started": _started,
    "workflow_execution_completed": _completed,
    "workflow_execution_failed": _failed,
    "workflow_execution_terminated": _terminated,
    "workflow_execution_signaled": _signaled,
    "workflow_task_scheduled": _task_scheduled,
    "workflow_task_started": _task_started,
    "workflow_task_completed": _task_completed,
    "workflow_task_failed": _task_failed,
    "activity_task_scheduled": _activity_scheduled,
    "activity_task_started": _activity_started,
    "activity_task_completed": _activity_completed,
    "activity_task_failed": _activity_failed,
    "activity_task_timed_out": _activity_timed_out,
}

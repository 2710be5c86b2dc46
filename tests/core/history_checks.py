"""What must hold for the history of any run, whoever wrote it: a check of events alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from towline.api import history_pb2 as history
from towline.api.history_pb2 import EventType, HistoryEvent

_COMMAND_EVENTS = {
    history.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
    history.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
    history.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
}
_CLOSING_EVENTS = {
    history.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
    history.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
    history.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED,
}


def check_history(events: Sequence[HistoryEvent]) -> None:
    """Raises AssertionError, naming the event and the rule, for events that no run may have.

    `events` is a whole history, from event 1 to the end of some batch.
    """
    check = _Check()
    for event in events:
        check.event(event)
    check.end()


@dataclass
class _Check:
    last: HistoryEvent | None = None
    size_bytes: int = 0
    closed: bool = False
    pending: int = 0  # S; 0: no workflow task is pending
    started: int = 0  # T of the pending workflow task; 0: not started
    starts: int = 0  # how many WorkflowTaskStarted the pending workflow task has
    completed: int = 0  # the last WorkflowTaskCompleted
    seen: int = 0  # T of the last completed workflow task
    news: int = 0  # the last event that workflow code must see
    activities: set[int] = field(default_factory=set)
    activity_ids: set[str] = field(default_factory=set)
    request_ids: set[str] = field(default_factory=set)

    def event(self, event: HistoryEvent) -> None:
        kind = EventType.Name(event.event_type).removeprefix("EVENT_TYPE_")
        where = f"event {event.event_id} ({kind})"
        previous_id = self.last.event_id if self.last else 0
        assert event.event_id == previous_id + 1, f"{where} follows event {previous_id}: ids must have no gaps"
        assert event.WhichOneof("attributes") == kind.lower(), f"{where} has attributes of another kind"
        assert not self.closed, f"{where} comes after the end of the run"
        is_start = event.event_type == history.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED
        assert is_start == (event.event_id == 1), f"{where}: event 1 and no other is the start"
        self._neighbours(event, where)
        _CHECKS[event.event_type](self, event, where)
        self.closed = event.event_type in _CLOSING_EVENTS
        self.last = event
        self.size_bytes += event.ByteSize()

    def end(self) -> None:
        assert self.last is not None, "the history is empty"
        assert self.last.event_type != history.EVENT_TYPE_ACTIVITY_TASK_STARTED, "the history ends inside a batch"
        assert not self._written_late(self.last), (
            f"event {self.last.event_id} is start {self.starts} of one workflow task, and nothing was written behind it"
        )
        if not self.closed and self.news > self.seen:
            assert self.pending, (
                f"event {self.news} is news after T = {self.seen}, and no workflow task is pending for it"
            )

    def _neighbours(self, event: HistoryEvent, where: str) -> None:
        """Events that are written in one batch stand side by side."""
        if self.last is None:
            return
        if event.event_type in _COMMAND_EVENTS:
            allowed = _COMMAND_EVENTS | {history.EVENT_TYPE_WORKFLOW_TASK_COMPLETED}
            assert self.last.event_type in allowed, (
                f"{where} does not follow the WorkflowTaskCompleted that asked for it"
            )
        if self.last.event_type == history.EVENT_TYPE_ACTIVITY_TASK_STARTED:
            closers = (
                history.EVENT_TYPE_ACTIVITY_TASK_COMPLETED,
                history.EVENT_TYPE_ACTIVITY_TASK_FAILED,
                history.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT,
            )
            assert event.event_type in closers, f"{where} follows an ActivityTaskStarted: only its closing event may"
        if event.event_type == history.EVENT_TYPE_WORKFLOW_TASK_STARTED:
            assert not self._written_late(self.last), f"{where} follows start {self.starts} of the same workflow task"

    def _written_late(self, last: HistoryEvent) -> bool:
        """Only the first two starts of a workflow task are written for themselves, others with what follows them."""
        return last.event_type == history.EVENT_TYPE_WORKFLOW_TASK_STARTED and self.starts > 2

    def execution_started(self, event: HistoryEvent, where: str) -> None:
        attributes = event.workflow_execution_started
        for name in ("workflow_id", "run_id", "workflow_type", "task_queue", "first_execution_run_id"):
            assert getattr(attributes, name), f"{where} has no {name}"
        assert attributes.workflow_task_timeout_ms > 0, f"{where} has no workflow task timeout"
        self.news = event.event_id

    def execution_closed(self, event: HistoryEvent, where: str) -> None:
        attributes = event.workflow_execution_completed
        if event.event_type == history.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
            named = event.workflow_execution_failed.workflow_task_completed_event_id
        else:
            named = attributes.workflow_task_completed_event_id
        assert named == self.completed, f"{where} names WorkflowTaskCompleted {named}, the last one is {self.completed}"
        assert self.news < self.seen, f"{where} ends the run though event {self.news} is news after T = {self.seen}"

    def execution_terminated(self, event: HistoryEvent, where: str) -> None:
        """From outside: at any time."""

    def signaled(self, event: HistoryEvent, where: str) -> None:
        request_id = event.workflow_execution_signaled.request_id
        assert request_id not in self.request_ids, f"{where} repeats request id {request_id}"
        self.request_ids |= {request_id} if request_id else set()
        self.news = event.event_id

    def task_scheduled(self, event: HistoryEvent, where: str) -> None:
        attributes = event.workflow_task_scheduled
        assert not self.pending, f"{where}: the workflow task of event {self.pending} is pending already"
        assert attributes.attempt >= 1, f"{where} has attempt {attributes.attempt}"
        assert attributes.task_queue, f"{where} has no task queue"
        assert attributes.start_to_close_timeout_ms > 0, f"{where} has no timeout"
        failed_before = self.last is not None and self.last.event_type == history.EVENT_TYPE_WORKFLOW_TASK_FAILED
        assert attributes.attempt == 1 or failed_before, (
            f"{where}: a later attempt follows the failure of an earlier one"
        )
        self.pending, self.started, self.starts = event.event_id, 0, 0

    def task_started(self, event: HistoryEvent, where: str) -> None:
        attributes = event.workflow_task_started
        self._names_pending(attributes.scheduled_event_id, where)
        size = attributes.history_size_bytes
        assert size == self.size_bytes, f"{where} says the history has {size} bytes, it has {self.size_bytes}"
        self.started = event.event_id
        self.starts += 1

    def task_completed(self, event: HistoryEvent, where: str) -> None:
        attributes = event.workflow_task_completed
        self._names_pending(attributes.scheduled_event_id, where)
        self._names_started(attributes.started_event_id, where)
        self.completed, self.seen, self.pending = event.event_id, attributes.started_event_id, 0

    def task_failed(self, event: HistoryEvent, where: str) -> None:
        attributes = event.workflow_task_failed
        self._names_pending(attributes.scheduled_event_id, where)
        self._names_started(attributes.started_event_id, where)
        self.pending = 0

    def _names_pending(self, named: int, where: str) -> None:
        assert named == self.pending, f"{where} names S = {named}, the pending one is {self.pending or 'none'}"

    def _names_started(self, named: int, where: str) -> None:
        assert named == self.started != 0, f"{where} names T = {named}, the latest one is {self.started or 'none'}"

    def activity_scheduled(self, event: HistoryEvent, where: str) -> None:
        attributes = event.activity_task_scheduled
        named = attributes.workflow_task_completed_event_id
        assert named == self.completed, f"{where} names WorkflowTaskCompleted {named}, the last one is {self.completed}"
        assert attributes.activity_id, f"{where} has no activity id"
        assert attributes.activity_id not in self.activity_ids, (
            f"{where} uses activity id {attributes.activity_id} again"
        )
        assert attributes.start_to_close_timeout_ms > 0, f"{where} has no time limit"
        self.activity_ids.add(attributes.activity_id)
        self.activities.add(event.event_id)

    def activity_started(self, event: HistoryEvent, where: str) -> None:
        attributes = event.activity_task_started
        self._names_activity(attributes.scheduled_event_id, where)
        assert attributes.attempt >= 1, f"{where} has attempt {attributes.attempt}"
        assert attributes.lease_token >= 1, f"{where} has lease token {attributes.lease_token}"

    def activity_completed(self, event: HistoryEvent, where: str) -> None:
        attributes = event.activity_task_completed
        self._activity_closed(
            event, where, scheduled=attributes.scheduled_event_id, started=attributes.started_event_id
        )

    def activity_failed(self, event: HistoryEvent, where: str) -> None:
        attributes = event.activity_task_failed
        assert attributes.retry_state, f"{where} does not say why it was not tried again"
        self._activity_closed(
            event, where, scheduled=attributes.scheduled_event_id, started=attributes.started_event_id
        )

    def activity_timed_out(self, event: HistoryEvent, where: str) -> None:
        attributes = event.activity_task_timed_out
        assert attributes.retry_state, f"{where} does not say why it was not tried again"
        assert attributes.failure.HasField("timeout_failure_info"), f"{where} does not say which limit passed"
        self._activity_closed(
            event, where, scheduled=attributes.scheduled_event_id, started=attributes.started_event_id
        )

    def _activity_closed(self, event: HistoryEvent, where: str, *, scheduled: int, started: int) -> None:
        self._names_activity(scheduled, where)
        last = self.last
        if last is not None and last.event_type == history.EVENT_TYPE_ACTIVITY_TASK_STARTED:
            right = (last.activity_task_started.scheduled_event_id, last.event_id)
            assert (scheduled, started) == right, (
                f"{where} names {(scheduled, started)}, the attempt before it is {right}"
            )
        else:
            is_timeout = event.event_type == history.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT
            assert is_timeout, f"{where} has no ActivityTaskStarted before it"
            assert started == 0, f"{where} names ActivityTaskStarted {started}, none stands before it"
        self.activities.remove(scheduled)
        self.news = event.event_id

    def _names_activity(self, named: int, where: str) -> None:
        assert named in self.activities, f"{where} names activity {named}, pending are {sorted(self.activities)}"


_CHECKS: dict[int, Callable[[_Check, HistoryEvent, str], None]] = {
    history.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED: _Check.execution_started,
    history.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED: _Check.execution_closed,
    history.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED: _Check.execution_closed,
    history.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED: _Check.execution_terminated,
    history.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED: _Check.signaled,
    history.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED: _Check.task_scheduled,
    history.EVENT_TYPE_WORKFLOW_TASK_STARTED: _Check.task_started,
    history.EVENT_TYPE_WORKFLOW_TASK_COMPLETED: _Check.task_completed,
    history.EVENT_TYPE_WORKFLOW_TASK_FAILED: _Check.task_failed,
    history.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED: _Check.activity_scheduled,
    history.EVENT_TYPE_ACTIVITY_TASK_STARTED: _Check.activity_started,
    history.EVENT_TYPE_ACTIVITY_TASK_COMPLETED: _Check.activity_completed,
    history.EVENT_TYPE_ACTIVITY_TASK_FAILED: _Check.activity_failed,
    history.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT: _Check.activity_timed_out,
}

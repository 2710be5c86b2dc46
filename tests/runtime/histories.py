"""Histories made by hand, and a server in a few lines that makes them from commands."""

from collections.abc import Callable
from typing import Any

from towline.api import history_pb2 as h
from towline.api.command_pb2 import Command
from towline.api.common_pb2 import RetryState, TimeoutType
from towline.api.failure_pb2 import Failure
from towline.api.task_service_pb2 import PollWorkflowTaskResponse
from towline.convert import DataConverter
from towline.exceptions import ApplicationError
from towline.runtime import WorkflowRegistry, WorkflowTaskFailed

START_MS = 1_700_000_000_000
STEP_MS = 1_000


class HistoryBuilder:
    """Appends events as the server does; every method gives the id of its event. Events are STEP_MS apart."""

    def __init__(self, workflow_type: str, *args: object, workflow_id: str = "demo-1", run_id: str = "run-1") -> None:
        self.converter = DataConverter.default
        self.events: list[h.HistoryEvent] = []
        self._add(
            h.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
            workflow_execution_started=h.WorkflowExecutionStartedEventAttributes(
                namespace="default",
                workflow_id=workflow_id,
                run_id=run_id,
                first_execution_run_id=run_id,
                workflow_type=workflow_type,
                task_queue="q",
                input=self.converter.to_payloads(args),
            ),
        )

    def _add(self, kind: "h.EventType.ValueType", **attributes: Any) -> int:
        event_id = len(self.events) + 1
        time_ms = START_MS + event_id * STEP_MS
        self.events.append(h.HistoryEvent(event_id=event_id, event_time_ms=time_ms, event_type=kind, **attributes))
        return event_id

    def task_scheduled(self) -> int:
        attributes = h.WorkflowTaskScheduledEventAttributes(task_queue="q", attempt=1)
        return self._add(h.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, workflow_task_scheduled=attributes)

    def task_started(self, scheduled: int) -> int:
        attributes = h.WorkflowTaskStartedEventAttributes(scheduled_event_id=scheduled)
        return self._add(h.EVENT_TYPE_WORKFLOW_TASK_STARTED, workflow_task_started=attributes)

    def task_completed(self, scheduled: int, started: int) -> int:
        attributes = h.WorkflowTaskCompletedEventAttributes(scheduled_event_id=scheduled, started_event_id=started)
        return self._add(h.EVENT_TYPE_WORKFLOW_TASK_COMPLETED, workflow_task_completed=attributes)

    def task_failed(self, scheduled: int, started: int) -> int:
        attributes = h.WorkflowTaskFailedEventAttributes(scheduled_event_id=scheduled, started_event_id=started)
        return self._add(h.EVENT_TYPE_WORKFLOW_TASK_FAILED, workflow_task_failed=attributes)

    def activity_scheduled(self, activity_id: str, activity_type: str) -> int:
        attributes = h.ActivityTaskScheduledEventAttributes(activity_id=activity_id, activity_type=activity_type)
        return self._add(h.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, activity_task_scheduled=attributes)

    def activity_started(self, scheduled: int) -> int:
        attributes = h.ActivityTaskStartedEventAttributes(scheduled_event_id=scheduled, attempt=1)
        return self._add(h.EVENT_TYPE_ACTIVITY_TASK_STARTED, activity_task_started=attributes)

    def activity_completed(self, scheduled: int, result: object = None) -> int:
        attributes = h.ActivityTaskCompletedEventAttributes(
            scheduled_event_id=scheduled,
            started_event_id=self.activity_started(scheduled),
            result=self.converter.to_payloads([result]),
        )
        return self._add(h.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, activity_task_completed=attributes)

    def activity_failed(self, scheduled: int, error: BaseException) -> int:
        attributes = h.ActivityTaskFailedEventAttributes(
            scheduled_event_id=scheduled,
            started_event_id=self.activity_started(scheduled),
            failure=self.converter.failures.to_failure(error),
            identity="worker-1",
            retry_state=RetryState.RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED,
        )
        return self._add(h.EVENT_TYPE_ACTIVITY_TASK_FAILED, activity_task_failed=attributes)

    def activity_timed_out(self, scheduled: int) -> int:
        failure = Failure(message="activity took too long")
        failure.timeout_failure_info.timeout_type = TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE
        attributes = h.ActivityTaskTimedOutEventAttributes(
            scheduled_event_id=scheduled, failure=failure, retry_state=RetryState.RETRY_STATE_TIMEOUT
        )
        return self._add(h.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT, activity_task_timed_out=attributes)

    def signaled(self, name: str, *args: object) -> int:
        attributes = h.WorkflowExecutionSignaledEventAttributes(
            signal_name=name, input=self.converter.to_payloads(args)
        )
        return self._add(h.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, workflow_execution_signaled=attributes)

    def closed(self, command: Command) -> int:
        """The event of a command that ends the run."""
        if command.HasField("complete_workflow"):
            done = h.WorkflowExecutionCompletedEventAttributes(result=command.complete_workflow.result)
            return self._add(h.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, workflow_execution_completed=done)
        failed = h.WorkflowExecutionFailedEventAttributes(failure=command.fail_workflow.failure)
        return self._add(h.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED, workflow_execution_failed=failed)

    def first_task(self) -> int:
        """Events 2 and 3: the started event of the first workflow task."""
        return self.task_started(self.task_scheduled())


class Run:
    """One run between a registry and a builder: decides tasks, and appends what the commands make."""

    def __init__(self, workflow: Any, *args: object, name: str | None = None) -> None:
        self.registry = WorkflowRegistry([workflow], DataConverter.default)
        (definition,) = self.registry.definitions.values()
        self.history = HistoryBuilder(name or definition.name, *args)
        # Activities that wait, by their ids: the event ids of their ActivityTaskScheduled.
        self.pending: dict[str, int] = {}
        # What each decided task gave, by its started event id.
        self.decided: dict[int, list[Command]] = {}
        self.closing: Command | None = None

    def decide(self) -> list[Command] | WorkflowTaskFailed:
        """Start the next workflow task and decide it; nothing of the outcome is appended."""
        return self.decide_at(self.history.task_started(self.history.task_scheduled()))

    def decide_at(self, started: int) -> list[Command] | WorkflowTaskFailed:
        """Decide the task of that started event, with the whole history at hand."""
        task = PollWorkflowTaskResponse(started_event_id=started)
        return self.registry.handle_workflow_task(task, self.history.events)

    def step(self, *, while_running: Callable[[list[Command]], object] | None = None) -> list[Command]:
        """Decide the next workflow task and append its outcome; `while_running` appends news that it does not see."""
        scheduled = self.history.task_scheduled()
        started = self.history.task_started(scheduled)
        commands = self.decide_at(started)
        assert isinstance(commands, list), commands
        if while_running is not None:
            while_running(commands)
        self.decided[started] = commands
        self.history.task_completed(scheduled, started)
        for command in commands:
            self._append(command)
        return commands

    def complete(self, activity_id: str, result: object = None) -> None:
        self.history.activity_completed(self.pending.pop(activity_id), result)

    def fail(self, activity_id: str, error: BaseException | None = None) -> None:
        self.history.activity_failed(self.pending.pop(activity_id), error or ApplicationError("no", type="No"))

    def time_out(self, activity_id: str) -> None:
        self.history.activity_timed_out(self.pending.pop(activity_id))

    def result(self) -> Any:
        """What the run returned. Fails if it is open or failed."""
        assert self.closing is not None
        assert self.closing.HasField("complete_workflow"), self.closing
        return DataConverter.default.from_result(self.closing.complete_workflow.result)

    def failure(self) -> Failure:
        """How the run failed. Fails if it did not."""
        assert self.closing is not None
        assert self.closing.HasField("fail_workflow"), self.closing
        return self.closing.fail_workflow.failure

    def _append(self, command: Command) -> None:
        if command.HasField("schedule_activity"):
            asked = command.schedule_activity
            assert asked.activity_id not in self.pending
            self.pending[asked.activity_id] = self.history.activity_scheduled(asked.activity_id, asked.activity_type)
        else:
            self.closing = command
            self.history.closed(command)


def asked(commands: list[Command] | WorkflowTaskFailed) -> list[tuple[str, str]]:
    """Id and type of each scheduled activity."""
    assert isinstance(commands, list), commands
    return [(c.schedule_activity.activity_id, c.schedule_activity.activity_type) for c in commands]


def broken(outcome: list[Command] | WorkflowTaskFailed) -> WorkflowTaskFailed:
    """The outcome, which must be a failed task."""
    assert isinstance(outcome, WorkflowTaskFailed), outcome
    return outcome

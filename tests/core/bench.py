"""One run on the bench: requests in, events and rows out. The store and the shell are a few lines here."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from towline.api import common_pb2 as common
from towline.api import task_service_pb2 as task
from towline.api import workflow_service_pb2 as workflow
from towline.api.command_pb2 import (
    Command,
    CompleteWorkflowExecutionCommandAttributes,
    FailWorkflowExecutionCommandAttributes,
    ScheduleActivityTaskCommandAttributes,
)
from towline.api.common_pb2 import Payload, Payloads, WorkflowTaskFailedCause
from towline.api.failure_pb2 import ApplicationFailureInfo, Failure
from towline.api.history_pb2 import EventType, HistoryEvent
from towline.api.token_pb2 import TaskDetails, TaskToken
from towline.core import request as ask
from towline.core.apply import apply, perform
from towline.core.decide import decide
from towline.core.decision import ClearTimer, Decision, Delivered, SetTimer
from towline.core.state import Run, RunState
from towline.core.task import TaskRow
from towline.core.workflow_task import virtual_started_event

WORKFLOW_ID = "demo-1"
RUN_ID = "run-1"
QUEUE = "q"
UNHANDLED_FAILURE = common.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE


def payloads(*data: bytes) -> Payloads:
    return Payloads(payloads=[Payload(data=item) for item in data])


def application_failure(message: str = "boom", **info: Any) -> Failure:
    return Failure(message=message, application_failure_info=ApplicationFailureInfo(**info))


def schedule_activity(activity_id: str = "1", **attributes: Any) -> Command:
    every: dict[str, Any] = {"activity_type": "Upper", "start_to_close_timeout_ms": 10_000, **attributes}
    return Command(schedule_activity=ScheduleActivityTaskCommandAttributes(activity_id=activity_id, **every))


def complete_workflow(result: Payloads | None = None) -> Command:
    return Command(complete_workflow=CompleteWorkflowExecutionCommandAttributes(result=result))


def fail_workflow(failure: Failure | None = None) -> Command:
    return Command(fail_workflow=FailWorkflowExecutionCommandAttributes(failure=failure or application_failure()))


def name(event: HistoryEvent) -> str:
    """The event's type in one short word or two, for tables in tests."""
    return EventType.Name(event.event_type).removeprefix("EVENT_TYPE_").lower()


@dataclass
class Bench:
    """A run, its history, its timers, a clock and a source of lease tokens."""

    now_ms: int = 1_000_000
    run: Run | None = None
    history: list[HistoryEvent] = field(default_factory=list)
    timers: dict[str, int] = field(default_factory=dict)
    tokens: int = 0

    @property
    def state(self) -> RunState:
        assert self.run is not None
        return self.run.state

    @property
    def rows(self) -> dict[str, TaskRow]:
        return self.run.tasks if self.run else {}

    def ask(self, request: ask.Request) -> Decision:
        """Decide and do what the shell must do with the decision."""
        decision = decide(self.run, request, now_ms=self.now_ms)
        state = self.run.state if self.run else None
        for event in decision.events:
            state = apply(state, event)
        if state is not None:
            self.run = Run(state, self.rows)
            perform(self.run.tasks, decision.effects)
        for effect in decision.effects:
            match effect:
                case SetTimer(row):
                    self.timers[row.timer_id] = row.fire_at_ms
                case ClearTimer(_, timer_id):
                    self.timers.pop(timer_id, None)
        self.history += decision.events
        return decision

    def names(self) -> list[str]:
        """The history as event type names."""
        return [name(event) for event in self.history]

    def start(self, **fields: Any) -> Decision:
        every: dict[str, Any] = {"workflow_id": WORKFLOW_ID, "workflow_type": "Echo", "task_queue": QUEUE, **fields}
        return self.ask(ask.StartWorkflow(RUN_ID, workflow.StartWorkflowRequest(namespace="default", **every)))

    def signal(self, signal_name: str = "poke", **fields: Any) -> Decision:
        message = workflow.SignalWorkflowRequest(signal_name=signal_name, **fields)
        return self.ask(ask.SignalWorkflow(message))

    def terminate(self, reason: str = "enough", **fields: Any) -> Decision:
        return self.ask(ask.TerminateWorkflow(workflow.TerminateWorkflowRequest(reason=reason, **fields)))

    def workflow_row(self) -> TaskRow:
        """The row of the pending workflow task."""
        (row,) = (row for row in self.rows.values() if "/wt/" in row.task_id)
        return row

    def told(self) -> HistoryEvent | None:
        """The started event that the holder of the workflow task was told and that history does not have yet."""
        assert self.run is not None
        return virtual_started_event(self.run, self.workflow_row())

    def activity_row(self) -> TaskRow:
        """The row of the one pending activity."""
        (row,) = (row for row in self.rows.values() if "/a/" in row.task_id)
        return row

    def deliver(self, row: TaskRow, *, identity: str = "w1") -> Decision:
        self.tokens += 1
        return self.ask(ask.DeliverTask(row.task_id, identity, self.tokens))

    def take(self, row: TaskRow, *, identity: str = "w1") -> TaskToken:
        """Deliver the task and give the token that the poll would give."""
        outcome = self.deliver(row, identity=identity).outcome
        assert isinstance(outcome, Delivered), outcome
        return token(outcome.row)

    def take_workflow_task(self, *, identity: str = "w1") -> TaskToken:
        return self.take(self.workflow_row(), identity=identity)

    def take_activity(self, *, identity: str = "w1") -> TaskToken:
        return self.take(self.activity_row(), identity=identity)

    def complete(self, held: TaskToken, *commands: Command, identity: str = "w1") -> Decision:
        message = task.CompleteWorkflowTaskRequest(commands=commands, identity=identity)
        return self.ask(ask.CompleteWorkflowTask(held, message))

    def fail_task(
        self,
        held: TaskToken,
        *,
        cause: WorkflowTaskFailedCause.ValueType = UNHANDLED_FAILURE,
        failure: Failure | None = None,
    ) -> Decision:
        message = task.FailWorkflowTaskRequest(cause=cause, failure=failure or application_failure(), identity="w1")
        return self.ask(ask.FailWorkflowTask(held, message))

    def fail_until_attempt(self, attempt: int) -> None:
        """The workflow task fails, each time after its backoff, until that attempt is the next."""
        while self.workflow_row().attempt < attempt:
            self.now_ms = max(self.now_ms, self.workflow_row().visible_at_ms)
            self.fail_task(self.take_workflow_task())
        self.now_ms = self.workflow_row().visible_at_ms

    def complete_activity(self, held: TaskToken, result: Payloads | None = None, *, identity: str = "w1") -> Decision:
        message = task.CompleteActivityTaskRequest(lease_token=held.lease_token, result=result, identity=identity)
        return self.ask(ask.CompleteActivityTask(held, message))

    def fail_activity(self, held: TaskToken, failure: Failure | None = None, **fields: Any) -> Decision:
        every: dict[str, Any] = {"lease_token": held.lease_token, "failure": failure or application_failure(), **fields}
        message = task.FailActivityTaskRequest(identity="w1", **every)
        return self.ask(ask.FailActivityTask(held, message))

    def heartbeat(self, held: TaskToken, details: Payloads | None = None) -> Decision:
        message = task.RecordHeartbeatRequest(lease_token=held.lease_token, details=details, identity="w1")
        return self.ask(ask.RecordHeartbeat(held, message))

    def release(self, held: TaskToken) -> Decision:
        return self.ask(ask.ReleaseTask(held))

    def expire(self, held: TaskToken) -> Decision:
        return self.ask(ask.LeaseExpired(held.task_id, held.lease_token))

    def fire(self, timer_id: str) -> Decision:
        return self.ask(ask.TimerFired(timer_id))

    def run_activities(self, *commands: Command) -> None:
        """Start the run and complete its first workflow task with these commands."""
        self.start()
        self.complete(self.take_workflow_task(), *commands)


def token(row: TaskRow) -> TaskToken:
    """What the poll's answer carries for this lease."""
    return TaskToken(
        namespace=row.namespace,
        queue=row.queue,
        task_id=row.task_id,
        lease_token=row.lease_token,
        run_id=row.run_id,
        scheduled_event_id=row.scheduled_event_id,
        started_event_id=row.started_event_id,
        workflow_id=row.workflow_id,
    )


def details(row: TaskRow) -> TaskDetails:
    return TaskDetails.FromString(row.details)


def events_of(decision: Decision) -> Sequence[str]:
    """The types of the events that a decision appends."""
    return [name(event) for event in decision.events]

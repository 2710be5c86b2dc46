"""What the core knows of a run: a fold over its events, and beside it the rows of its tasks."""

from dataclasses import dataclass, field

from towline.api.common_pb2 import Payloads, RetryPolicy, WorkflowExecutionStatus
from towline.core.task import TaskRow


class CorruptHistory(Exception):
    """Events that no server writes in this order. The message names the run and the event."""


@dataclass(slots=True)
class WorkflowTask:
    """The pending workflow task: scheduled, perhaps started (started_event_id is then its latest T), not completed."""

    scheduled_event_id: int  # S
    task_queue: str
    timeout_ms: int
    attempt: int  # as written in its scheduled event; later attempts are counted in the task's row
    started_event_id: int = 0  # the latest T in history
    started_count: int = 0  # how many T's history has for this S
    failure_written: bool = False  # history has this task's failure already: further ones are counted, not written


@dataclass(slots=True)
class Activity:
    """An activity that was scheduled and has not closed."""

    scheduled_event_id: int
    activity_id: str
    activity_type: str
    task_queue: str
    input: Payloads
    scheduled_at_ms: int
    schedule_to_close_timeout_ms: int
    schedule_to_start_timeout_ms: int
    start_to_close_timeout_ms: int
    heartbeat_timeout_ms: int
    retry_policy: RetryPolicy


@dataclass(slots=True)
class RunState:
    """`fold(apply, history)`, and nothing else: whatever is here can be had from the events again."""

    namespace: str
    workflow_id: str
    run_id: str
    first_execution_run_id: str
    workflow_type: str
    task_queue: str
    workflow_task_timeout_ms: int
    start_request_id: str
    start_time_ms: int
    trace_context: dict[str, str]
    status: WorkflowExecutionStatus.ValueType
    close_time_ms: int = 0
    last_event_id: int = 0
    history_size_bytes: int = 0  # the events' encoded sizes, added up
    previous_started_event_id: int = 0  # T of the last completed workflow task
    last_news_event_id: int = 0  # the last event that a workflow task must be scheduled for
    workflow_task: WorkflowTask | None = None
    activities: dict[int, Activity] = field(default_factory=dict)  # by scheduled event id, in order
    activity_ids: set[str] = field(
        default_factory=set
    )  # every one ever scheduled: an idempotency key never names two activities
    signal_request_ids: set[str] = field(default_factory=set)
    signal_count: int = 0

    def status_name(self) -> str:
        """For people: "RUNNING", "COMPLETED", and so on."""
        return WorkflowExecutionStatus.Name(self.status).removeprefix("WORKFLOW_EXECUTION_STATUS_")


@dataclass(slots=True)
class Run:
    """All that a decision is made on."""

    state: RunState
    tasks: dict[str, TaskRow] = field(default_factory=dict)  # by task id

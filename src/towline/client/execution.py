"""Runs as a client sees them. Times are in UTC."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import Any, Final

from towline.api.failure_pb2 import Failure
from towline.api.history_pb2 import HistoryEvent
from towline.api.workflow_service_pb2 import (
    DescribeWorkflowResponse,
    PendingActivityInfo,
    PendingWorkflowTaskInfo,
    WorkflowExecutionInfo,
)
from towline.convert import DataConverter
from towline.exceptions import FailureError

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class WorkflowExecutionStatus(IntEnum):
    """Where a run stands. Numbers are the contract's."""

    UNSPECIFIED = 0
    RUNNING = 1
    COMPLETED = 2
    FAILED = 3
    CANCELED = 4
    TERMINATED = 5
    CONTINUED_AS_NEW = 6
    TIMED_OUT = 7

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return format(self.name, spec)

    @classmethod
    def _missing_(cls, value: object) -> "WorkflowExecutionStatus":
        return cls.UNSPECIFIED  # a newer server may know more


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowExecution:
    """One run at a glance. `close_time` is None while it is open."""

    id: str
    run_id: str
    workflow_type: str
    task_queue: str
    status: WorkflowExecutionStatus
    start_time: datetime
    close_time: datetime | None
    history_length: int
    history_size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingActivity:
    """An activity that has not closed. `attempt` is the one that runs or is next; `next_attempt_time` None: it runs."""

    activity_id: str
    activity_type: str
    attempt: int
    started: bool
    next_attempt_time: datetime | None
    last_failure: FailureError | None
    heartbeat_details: tuple[Any, ...]
    last_worker_identity: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingWorkflowTask:
    """A workflow task that waits or runs; fields as of a pending activity."""

    attempt: int
    started: bool
    next_attempt_time: datetime | None
    last_failure: FailureError | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowExecutionDescription:
    """Where a run stands and what it waits for."""

    execution: WorkflowExecution
    pending_activities: tuple[PendingActivity, ...]
    pending_workflow_task: PendingWorkflowTask | None

    @property
    def id(self) -> str:
        """The workflow id."""
        return self.execution.id

    @property
    def run_id(self) -> str:
        """The run."""
        return self.execution.run_id

    @property
    def status(self) -> WorkflowExecutionStatus:
        """Where it stands."""
        return self.execution.status


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowHistory:
    """All events of one run, so far."""

    workflow_id: str
    run_id: str
    events: tuple[HistoryEvent, ...]


def execution_of(info: WorkflowExecutionInfo) -> WorkflowExecution:
    """From the contract's message."""
    return WorkflowExecution(
        id=info.execution.workflow_id,
        run_id=info.execution.run_id,
        workflow_type=info.workflow_type,
        task_queue=info.task_queue,
        status=WorkflowExecutionStatus(info.status),
        start_time=_moment(info.start_time_ms),
        close_time=_moment_or_none(info.close_time_ms),
        history_length=info.history_length,
        history_size_bytes=info.history_size_bytes,
    )


def description_of(response: DescribeWorkflowResponse, converter: DataConverter) -> WorkflowExecutionDescription:
    """From the contract's message."""
    pending_task = response.pending_workflow_task if response.HasField("pending_workflow_task") else None
    return WorkflowExecutionDescription(
        execution=execution_of(response.info),
        pending_activities=tuple(_activity(info, converter) for info in response.pending_activities),
        pending_workflow_task=None if pending_task is None else _workflow_task(pending_task, converter),
    )


def _activity(info: PendingActivityInfo, converter: DataConverter) -> PendingActivity:
    return PendingActivity(
        activity_id=info.activity_id,
        activity_type=info.activity_type,
        attempt=info.attempt,
        started=info.started,
        next_attempt_time=_moment_or_none(info.next_attempt_time_ms),
        last_failure=_failure(info.last_failure, converter) if info.HasField("last_failure") else None,
        heartbeat_details=tuple(converter.from_payloads(info.heartbeat_details, what="heartbeat_details")),
        last_worker_identity=info.last_worker_identity,
    )


def _workflow_task(info: PendingWorkflowTaskInfo, converter: DataConverter) -> PendingWorkflowTask:
    return PendingWorkflowTask(
        attempt=info.attempt,
        started=info.started,
        next_attempt_time=_moment_or_none(info.next_attempt_time_ms),
        last_failure=_failure(info.last_failure, converter) if info.HasField("last_failure") else None,
    )


def _failure(failure: Failure, converter: DataConverter) -> FailureError:
    return converter.failures.from_failure(failure)


def _moment(time_ms: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=time_ms)


def _moment_or_none(time_ms: int) -> datetime | None:
    return _moment(time_ms) if time_ms else None

"""What can be asked of a run. Contract messages where the contract has one, with its task token already decoded.

The shell has checked the envelope (namespace, token decodes and is of the right kind); every other rule is the core's.
"""

from dataclasses import dataclass

from towline.api import task_service_pb2 as task
from towline.api import workflow_service_pb2 as workflow
from towline.api.token_pb2 import TaskToken


@dataclass(frozen=True, slots=True)
class StartWorkflow:
    """Start a run. Decided on no run at all."""

    run_id: str
    message: workflow.StartWorkflowRequest


@dataclass(frozen=True, slots=True)
class SignalWorkflow:
    message: workflow.SignalWorkflowRequest


@dataclass(frozen=True, slots=True)
class TerminateWorkflow:
    message: workflow.TerminateWorkflowRequest


@dataclass(frozen=True, slots=True)
class DeliverTask:
    """A poller waits: lease it this task, of either kind. Outcome `Delivered` or `Stale`."""

    task_id: str
    identity: str
    lease_token: int  # a fresh one; the core makes it larger where the task has had a larger one


@dataclass(frozen=True, slots=True)
class ReleaseTask:
    """The holder will not run it: make it ready again at once, as the same attempt. Fenced like a report."""

    token: TaskToken


@dataclass(frozen=True, slots=True)
class LeaseExpired:
    """The shell's clock says that this lease ran out. Outcome `Stale` if it is not so."""

    task_id: str
    lease_token: int


@dataclass(frozen=True, slots=True)
class TimerFired:
    """The shell's clock says that this timer is due. Outcome `Stale` if history has no use for it."""

    timer_id: str


@dataclass(frozen=True, slots=True)
class CompleteWorkflowTask:
    token: TaskToken
    message: task.CompleteWorkflowTaskRequest


@dataclass(frozen=True, slots=True)
class FailWorkflowTask:
    token: TaskToken
    message: task.FailWorkflowTaskRequest


@dataclass(frozen=True, slots=True)
class CompleteActivityTask:
    token: TaskToken
    message: task.CompleteActivityTaskRequest


@dataclass(frozen=True, slots=True)
class FailActivityTask:
    token: TaskToken
    message: task.FailActivityTaskRequest


@dataclass(frozen=True, slots=True)
class RecordHeartbeat:
    """Outcome `HeartbeatRecorded`."""

    token: TaskToken
    message: task.RecordHeartbeatRequest


# What is asked of a run that exists.
RunRequest = (
    SignalWorkflow
    | TerminateWorkflow
    | DeliverTask
    | ReleaseTask
    | LeaseExpired
    | TimerFired
    | CompleteWorkflowTask
    | FailWorkflowTask
    | CompleteActivityTask
    | FailActivityTask
    | RecordHeartbeat
)

Request = StartWorkflow | RunRequest

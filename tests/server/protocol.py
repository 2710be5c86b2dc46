"""A server and a client that speaks the contract by hand, over real gRPC, with a clock that the test moves."""

import asyncio
from collections.abc import Awaitable, Sequence
from types import TracebackType
from typing import Any, Self

import grpc.aio
import pytest

from towline.api.command_pb2 import (
    Command,
    CompleteWorkflowExecutionCommandAttributes,
    FailWorkflowExecutionCommandAttributes,
    ScheduleActivityTaskCommandAttributes,
)
from towline.api.common_pb2 import (
    WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE,
    Payload,
    Payloads,
    RetryPolicy,
    WorkflowExecution,
)
from towline.api.failure_pb2 import ApplicationFailureInfo, Failure
from towline.api.history_pb2 import EventType, History, HistoryEvent
from towline.api.task_service_pb2 import (
    CompleteActivityTaskRequest,
    CompleteWorkflowTaskRequest,
    CompleteWorkflowTaskResponse,
    FailActivityTaskRequest,
    FailWorkflowTaskRequest,
    PollActivityTaskResponse,
    PollRequest,
    PollWorkflowTaskResponse,
    RecordHeartbeatRequest,
    RecordHeartbeatResponse,
    ReleaseTaskRequest,
    ShutdownWorkerRequest,
)
from towline.api.workflow_service_pb2 import (
    DescribeWorkflowRequest,
    DescribeWorkflowResponse,
    GetHistoryRequest,
    GetHistoryResponse,
    SignalWorkflowRequest,
    StartWorkflowRequest,
    TerminateWorkflowRequest,
)
from towline.client.transport.api import RpcError
from towline.client.transport.unary import UnaryTransport
from towline.rpc import METHODS
from towline.server.app import Server
from towline.server.grpc.server import OPTIONS, GrpcServer
from towline.server.settings import Settings
from towline.status import Status
from towline.store.api import Store
from towline.testing.clock import FakeClock
from towline.testing.ids import SequenceIds

NAMESPACE = "default"
QUEUE = "default"


def payloads(data: bytes = b'"hi"') -> Payloads:
    return Payloads(payloads=[Payload(metadata={"encoding": b"json/plain"}, data=data)])


def schedule(activity_id: str, activity_type: str = "Upper", **attributes: Any) -> Command:
    attributes = {"input": payloads(), "start_to_close_timeout_ms": 10_000, **attributes}
    return Command(
        schedule_activity=ScheduleActivityTaskCommandAttributes(
            activity_id=activity_id, activity_type=activity_type, **attributes
        )
    )


def complete(result: Payloads | None = None) -> Command:
    return Command(complete_workflow=CompleteWorkflowExecutionCommandAttributes(result=result or payloads()))


def fail(message: str) -> Command:
    return Command(fail_workflow=FailWorkflowExecutionCommandAttributes(failure=Failure(message=message)))


def failure(message: str = "boom", *, type: str = "ValueError", non_retryable: bool = False) -> Failure:
    return Failure(
        message=message, application_failure_info=ApplicationFailureInfo(type=type, non_retryable=non_retryable)
    )


def once() -> RetryPolicy:
    return RetryPolicy(maximum_attempts=1)


def names(events: Sequence[HistoryEvent]) -> list[str]:
    """The event types, short: "workflow_task_scheduled"."""
    return [EventType.Name(event.event_type).removeprefix("EVENT_TYPE_").lower() for event in events]


class Protocol:
    """One server process (as far as the protocol is concerned) and one client of it."""

    def __init__(self, store: Store, clock: FakeClock, *, settings: Settings | None = None, ids: str = "run") -> None:
        self.clock = clock
        self.settings = settings or Settings(address="127.0.0.1:0")
        self.server = Server(self.settings, store=store, clock=clock, ids=SequenceIds(ids))
        self._front = GrpcServer(self.server.services, address="127.0.0.1:0")
        self.transport: UnaryTransport

    async def __aenter__(self) -> Self:
        await self.server.start()
        port = await self._front.start()
        target = f"127.0.0.1:{port}"
        self.transport = UnaryTransport(grpc.aio.insecure_channel(target, options=OPTIONS), target)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.transport.close()
        self.server.send_home()
        await self._front.stop(0)
        await self.server.stop()

    async def call(self, method: str, request: Any) -> Any:
        return await self.transport.call(METHODS[method], request)

    async def start(self, workflow_id: str = "demo-1", **fields: Any) -> str:
        fields = {"workflow_type": "Echo", "task_queue": QUEUE, "input": payloads(), "identity": "starter", **fields}
        request = StartWorkflowRequest(namespace=NAMESPACE, workflow_id=workflow_id, **fields)
        run_id: str = (await self.call("StartWorkflow", request)).run_id
        return run_id

    async def poll_workflow(self, queue: str = QUEUE, *, key: str = "") -> PollWorkflowTaskResponse:
        task: PollWorkflowTaskResponse = await self.call("PollWorkflowTask", _poll(queue, key))
        return task

    async def poll_activity(self, queue: str = QUEUE, *, key: str = "") -> PollActivityTaskResponse:
        task: PollActivityTaskResponse = await self.call("PollActivityTask", _poll(queue, key))
        return task

    async def complete_workflow(
        self, task: PollWorkflowTaskResponse, *commands: Command, next_task: bool = False
    ) -> CompleteWorkflowTaskResponse:
        response: CompleteWorkflowTaskResponse = await self.call(
            "CompleteWorkflowTask",
            CompleteWorkflowTaskRequest(
                task_token=task.task_token,
                commands=commands,
                identity="worker-1",
                return_new_workflow_task=next_task,
            ),
        )
        return response

    async def fail_workflow(self, task: PollWorkflowTaskResponse, message: str = "bug") -> None:
        await self.call(
            "FailWorkflowTask",
            FailWorkflowTaskRequest(
                task_token=task.task_token,
                cause=WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE,
                failure=Failure(message=message, stack_trace="the stack"),
                identity="worker-1",
            ),
        )

    async def complete_activity(self, task: PollActivityTaskResponse, result: Payloads | None = None) -> None:
        await self.call(
            "CompleteActivityTask",
            CompleteActivityTaskRequest(
                task_token=task.task_token,
                lease_token=task.lease_token,
                result=result or payloads(b'"HI"'),
                identity="worker-1",
            ),
        )

    async def fail_activity(
        self, task: PollActivityTaskResponse, reason: Failure, details: Payloads | None = None
    ) -> None:
        await self.call(
            "FailActivityTask",
            FailActivityTaskRequest(
                task_token=task.task_token,
                lease_token=task.lease_token,
                failure=reason,
                identity="worker-1",
                last_heartbeat_details=details,
            ),
        )

    async def heartbeat(self, task: PollActivityTaskResponse, details: Payloads) -> RecordHeartbeatResponse:
        response: RecordHeartbeatResponse = await self.call(
            "RecordHeartbeat",
            RecordHeartbeatRequest(task_token=task.task_token, lease_token=task.lease_token, details=details),
        )
        return response

    async def release(self, task: PollActivityTaskResponse | PollWorkflowTaskResponse) -> None:
        await self.call("ReleaseTask", ReleaseTaskRequest(task_token=task.task_token))

    async def shutdown_worker(self, key: str) -> None:
        await self.call("ShutdownWorker", ShutdownWorkerRequest(namespace=NAMESPACE, worker_instance_key=key))

    async def signal(self, workflow_id: str = "demo-1", name: str = "news", request_id: str = "") -> None:
        await self.call(
            "SignalWorkflow",
            SignalWorkflowRequest(
                namespace=NAMESPACE,
                execution=WorkflowExecution(workflow_id=workflow_id),
                signal_name=name,
                input=payloads(),
                request_id=request_id,
            ),
        )

    async def call_signal(self, *, size: int) -> None:
        """A signal whose input has this many bytes."""
        await self.call(
            "SignalWorkflow",
            SignalWorkflowRequest(
                namespace=NAMESPACE,
                execution=WorkflowExecution(workflow_id="demo-1"),
                signal_name="news",
                input=payloads(b"x" * size),
            ),
        )

    async def terminate(self, workflow_id: str = "demo-1") -> None:
        execution = WorkflowExecution(workflow_id=workflow_id)
        await self.call(
            "TerminateWorkflow", TerminateWorkflowRequest(namespace=NAMESPACE, execution=execution, reason="enough")
        )

    async def describe(self, workflow_id: str = "demo-1") -> DescribeWorkflowResponse:
        execution = WorkflowExecution(workflow_id=workflow_id)
        response: DescribeWorkflowResponse = await self.call(
            "DescribeWorkflow", DescribeWorkflowRequest(namespace=NAMESPACE, execution=execution)
        )
        return response

    async def history_page(self, workflow_id: str = "demo-1", **fields: Any) -> GetHistoryResponse:
        execution = WorkflowExecution(workflow_id=workflow_id)
        page: GetHistoryResponse = await self.call(
            "GetHistory", GetHistoryRequest(namespace=NAMESPACE, execution=execution, **fields)
        )
        return page

    async def history(self, workflow_id: str = "demo-1", *, token: bytes = b"") -> list[HistoryEvent]:
        """The whole history, or what follows `token`."""
        events: list[HistoryEvent] = []
        while True:
            page = await self.history_page(workflow_id, next_page_token=token)
            events.extend(page.history.events)
            token = page.next_page_token
            if not token:
                return events

    async def scheduled_activity(self, **attributes: Any) -> PollActivityTaskResponse:
        """Start demo-1, let it schedule one activity, and take that one."""
        await self.start()
        await self.complete_workflow(await self.poll_workflow(), schedule("1", **attributes))
        return await self.poll_activity()


def _poll(queue: str, key: str) -> PollRequest:
    return PollRequest(namespace=NAMESPACE, task_queue=queue, identity="worker-1", worker_instance_key=key)


def decoded(blobs: Sequence[bytes]) -> list[HistoryEvent]:
    return [event for blob in blobs for event in History.FromString(blob).events]


async def refused(call: Awaitable[Any], status: Status) -> str:
    """The message of the refusal that the call must meet."""
    with pytest.raises(RpcError) as caught:
        await call
    assert caught.value.status == status, caught.value
    return caught.value.message


async def settled(task: "asyncio.Task[Any]") -> bool:
    """Whether a call has come back, after everything else had its turn."""
    done, _ = await asyncio.wait({task}, timeout=0)
    return bool(done)

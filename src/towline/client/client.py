"""The client: starts workflows and finds them again."""

import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any, TypeVar, TypeVarTuple, Unpack, overload

from towline import limits
from towline.api.workflow_service_pb2 import (
    CountWorkflowsRequest,
    ListWorkflowsRequest,
    StartWorkflowRequest,
    WorkflowFilter,
)
from towline.client.connection import Connection
from towline.client.execution import WorkflowExecution, WorkflowExecutionStatus, execution_of
from towline.client.handle import WorkflowHandle
from towline.client.retrying import RetryingCaller
from towline.client.start_options import StartOptions
from towline.client.transport.api import RpcError
from towline.client.workflow_type import HasRun, NoArguments, OneArgument, TwoArguments, WorkflowClass, type_and_result
from towline.convert import DataConverter
from towline.exceptions import WorkflowAlreadyStartedError
from towline.rpc import WORKFLOW_METHODS
from towline.status import Status

R = TypeVar("R")
A = TypeVar("A")
B = TypeVar("B")
W = TypeVar("W", bound=HasRun)
Ts = TypeVarTuple("Ts")


class Client:
    """One namespace of one server. May be used from any event loop, by any number of tasks.

    A call that may be repeated is repeated for up to 30 s while the server is away. What the server refuses is raised
    as `RpcError`.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        namespace: str = "default",
        identity: str | None = None,
        data_converter: DataConverter = DataConverter.default,
    ) -> None:
        self.connection = connection
        self.namespace = namespace
        self.identity = identity or f"{os.getpid()}@{socket.gethostname()}"
        self.data_converter = data_converter
        self.caller = RetryingCaller(connection)

    @classmethod
    async def connect(
        cls,
        target: str = "localhost:7470",
        *,
        namespace: str = "default",
        identity: str | None = None,
        data_converter: DataConverter = DataConverter.default,
        connect_timeout: timedelta = timedelta(milliseconds=limits.CONNECT_TIMEOUT_MS),
    ) -> "Client":
        """Connect to the server at `target` (host:port). `identity` tells people who asked; pid@host unless given.

        Raises RpcError (UNAVAILABLE) if no server answers in time; with a time-out of zero none is waited for, and the
        first call connects.
        """
        timeout_ms = connect_timeout // timedelta(milliseconds=1)
        connection = await Connection.connect(target, connect_timeout_ms=timeout_ms)
        return cls(connection, namespace=namespace, identity=identity, data_converter=data_converter)

    async def close(self) -> None:
        """Close the connection, also under others that use it: see `Connection.close`. May be called twice."""
        await self.connection.close()

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()

    @overload
    async def start_workflow(
        self, workflow: Callable[[*Ts], Awaitable[R]], /, *args: *Ts, **options: Unpack[StartOptions]
    ) -> WorkflowHandle[R]: ...
    @overload
    async def start_workflow(
        self, workflow: Callable[[W, *Ts], Awaitable[R]], /, *args: *Ts, **options: Unpack[StartOptions]
    ) -> WorkflowHandle[R]: ...
    @overload
    async def start_workflow(
        self, workflow: type[WorkflowClass[*Ts, R]], /, *args: *Ts, **options: Unpack[StartOptions]
    ) -> WorkflowHandle[R]: ...
    @overload
    async def start_workflow(
        self, workflow: type[NoArguments[R]], /, **options: Unpack[StartOptions]
    ) -> WorkflowHandle[R]: ...
    @overload
    async def start_workflow(
        self, workflow: type[OneArgument[A, R]], first: A, /, **options: Unpack[StartOptions]
    ) -> WorkflowHandle[R]: ...
    @overload
    async def start_workflow(
        self, workflow: type[TwoArguments[A, B, R]], first: A, second: B, /, **options: Unpack[StartOptions]
    ) -> WorkflowHandle[R]: ...
    @overload
    async def start_workflow(
        self, workflow: str, /, *args: object, result_type: type[R], **options: Unpack[StartOptions]
    ) -> WorkflowHandle[R]: ...
    @overload
    async def start_workflow(
        self, workflow: str, /, *args: object, **options: Unpack[StartOptions]
    ) -> WorkflowHandle[Any]: ...
    async def start_workflow(
        self,
        workflow: object,
        /,
        *args: object,
        id: str,
        task_queue: str,
        task_timeout: timedelta | None = None,
        request_id: str | None = None,
        result_type: Any = None,
    ) -> WorkflowHandle[Any]:
        """Start a run of a workflow: a function or class decorated with `@workflow.defn`, the class's run method
        (`Order.run`), or a type name.

        Options: `id` (the workflow id, unique among the open runs of the namespace); `task_queue` (where workers look
        for its tasks); `task_timeout` (how long a worker may hold one of its workflow tasks; 10 s unless given);
        `request_id` (starting again with the same one gives the same run; unless given, each call is one of its own);
        with a type name, `result_type` (what the result is to be read as).

        Raises WorkflowAlreadyStartedError if the id has an open run of another request.
        """
        workflow_type, result_type = type_and_result(workflow, result_type)
        request = StartWorkflowRequest(
            namespace=self.namespace,
            workflow_id=id,
            workflow_type=workflow_type,
            task_queue=task_queue,
            input=self.data_converter.to_payloads(args),
            workflow_task_timeout_ms=0 if task_timeout is None else task_timeout // timedelta(milliseconds=1),
            identity=self.identity,
            request_id=request_id or self.connection.ids.new_id(),
        )
        try:
            response = await self.caller.call(WORKFLOW_METHODS["StartWorkflow"], request)
        except RpcError as error:
            if error.status is Status.ALREADY_EXISTS:
                raise WorkflowAlreadyStartedError(id, workflow_type) from error
            raise
        return WorkflowHandle(self, id, run_id=response.run_id, result_type=result_type)

    @overload
    async def execute_workflow(
        self, workflow: Callable[[*Ts], Awaitable[R]], /, *args: *Ts, **options: Unpack[StartOptions]
    ) -> R: ...
    @overload
    async def execute_workflow(
        self, workflow: Callable[[W, *Ts], Awaitable[R]], /, *args: *Ts, **options: Unpack[StartOptions]
    ) -> R: ...
    @overload
    async def execute_workflow(
        self, workflow: type[WorkflowClass[*Ts, R]], /, *args: *Ts, **options: Unpack[StartOptions]
    ) -> R: ...
    @overload
    async def execute_workflow(self, workflow: type[NoArguments[R]], /, **options: Unpack[StartOptions]) -> R: ...
    @overload
    async def execute_workflow(
        self, workflow: type[OneArgument[A, R]], first: A, /, **options: Unpack[StartOptions]
    ) -> R: ...
    @overload
    async def execute_workflow(
        self, workflow: type[TwoArguments[A, B, R]], first: A, second: B, /, **options: Unpack[StartOptions]
    ) -> R: ...
    @overload
    async def execute_workflow(
        self, workflow: str, /, *args: object, result_type: type[R], **options: Unpack[StartOptions]
    ) -> R: ...
    @overload
    async def execute_workflow(self, workflow: str, /, *args: object, **options: Unpack[StartOptions]) -> Any: ...
    async def execute_workflow(self, workflow: Any, /, *args: object, **options: Any) -> Any:
        """`start_workflow`, then `WorkflowHandle.result`."""
        handle = await self.start_workflow(workflow, *args, **options)
        return await handle.result()

    @overload
    def get_workflow_handle(self, workflow_id: str, *, run_id: str = "") -> WorkflowHandle[Any]: ...
    @overload
    def get_workflow_handle(self, workflow_id: str, *, run_id: str = "", result_type: type[R]) -> WorkflowHandle[R]: ...
    def get_workflow_handle(
        self, workflow_id: str, *, run_id: str = "", result_type: Any = None
    ) -> WorkflowHandle[Any]:
        """A handle on a workflow that exists, or not: the server is not asked. `run_id` "": its current run."""
        return WorkflowHandle(self, workflow_id, run_id=run_id, result_type=result_type)

    async def list_workflows(
        self,
        *,
        workflow_id: str = "",
        workflow_type: str = "",
        status: WorkflowExecutionStatus = WorkflowExecutionStatus.UNSPECIFIED,
        page_size: int = 100,
    ) -> AsyncIterator[WorkflowExecution]:
        """Runs that match all that is given, the newest first; `page_size` of them per call of the server."""
        request = ListWorkflowsRequest(
            namespace=self.namespace, filter=_filter(workflow_id, workflow_type, status), page_size=page_size
        )
        while True:
            response = await self.caller.call(WORKFLOW_METHODS["ListWorkflows"], request)
            for info in response.executions:
                yield execution_of(info)
            if not response.next_page_token:
                return
            request.next_page_token = response.next_page_token

    async def count_workflows(
        self,
        *,
        workflow_id: str = "",
        workflow_type: str = "",
        status: WorkflowExecutionStatus = WorkflowExecutionStatus.UNSPECIFIED,
    ) -> int:
        """How many runs match all that is given."""
        request = CountWorkflowsRequest(namespace=self.namespace, filter=_filter(workflow_id, workflow_type, status))
        response = await self.caller.call(WORKFLOW_METHODS["CountWorkflows"], request)
        count: int = response.count
        return count


def _filter(workflow_id: str, workflow_type: str, status: WorkflowExecutionStatus) -> WorkflowFilter:
    return WorkflowFilter(workflow_id=workflow_id, workflow_type=workflow_type, status=int(status))  # type: ignore[arg-type]

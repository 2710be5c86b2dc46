"""One workflow, from outside."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, TypeVarTuple, Unpack, overload

from towline import limits
from towline.api import common_pb2 as common
from towline.api.history_pb2 import HistoryEvent
from towline.api.workflow_service_pb2 import (
    DescribeWorkflowRequest,
    GetHistoryRequest,
    GetHistoryResponse,
    SignalWorkflowRequest,
    TerminateWorkflowRequest,
)
from towline.client.execution import WorkflowExecutionDescription, WorkflowHistory, description_of
from towline.client.outcome import outcome
from towline.client.transport.api import RpcError
from towline.rpc import WORKFLOW_METHODS
from towline.status import Status
from towline.workflow import signal_name

if TYPE_CHECKING:
    from towline.client.client import Client

R = TypeVar("R")
Ts = TypeVarTuple("Ts")

_LONG_POLL_TIMEOUT_MS: Final = limits.LONG_POLL_TIMEOUT_MS + limits.RPC_TIMEOUT_MS


class WorkflowHandle(Generic[R]):
    """A workflow that was started, or is thought to exist. `R` is what it returns.

    `run_id` "": whatever run the workflow id has at the time of each call. Every method raises NotFoundError if there
    is no such run, and RpcError.
    """

    def __init__(self, client: "Client", id: str, *, run_id: str = "", result_type: Any = None) -> None:
        self._client = client
        self.id = id
        self.run_id = run_id
        self._result_type = result_type

    def __repr__(self) -> str:
        return f"<workflow {self.id!r} run {self.run_id or 'current'}>"

    async def result(self) -> R:
        """Wait, however long it takes, until the run has closed, and give back what it returned.

        Raises WorkflowFailureError if it failed or was terminated.
        """
        request = self._history_request(close_event_only=True, wait_new_event=True)
        while True:
            page = await self._page(request)
            if page.history.events:
                break
            if not page.next_page_token:
                raise RpcError(Status.DATA_LOSS, f"run {page.run_id!r} of workflow {self.id!r} has no closing event")
            # From here on the same run, even if the workflow id gets another one meanwhile.
            request.execution.run_id = page.run_id
            request.next_page_token = page.next_page_token
        result: R = outcome(
            page.history.events[-1],
            workflow_id=self.id,
            result_type=self._result_type,
            converter=self._client.data_converter,
        )
        return result

    @overload
    async def signal(self, signal: Callable[[Any, Unpack[Ts]], Awaitable[None] | None], /, *args: *Ts) -> None: ...
    @overload
    async def signal(self, signal: str, /, *args: Any) -> None: ...
    async def signal(self, signal: object, /, *args: object) -> None:
        """Send a signal: a method decorated with `@workflow.signal`, or a name; returns once it is in history."""
        request = SignalWorkflowRequest(
            namespace=self._client.namespace,
            execution=self._execution(),
            signal_name=signal_name(signal),
            input=self._client.data_converter.to_payloads(args),
            identity=self._client.identity,
            request_id=self._client.connection.ids.new_id(),
        )
        await self._client.caller.call(WORKFLOW_METHODS["SignalWorkflow"], request)

    async def terminate(self, *details: object, reason: str = "") -> None:
        """End the run at once; its code is not asked. `details` are for whoever reads why."""
        request = TerminateWorkflowRequest(
            namespace=self._client.namespace,
            execution=self._execution(),
            reason=reason,
            details=self._client.data_converter.to_payloads(details, what="details"),
            identity=self._client.identity,
        )
        await self._client.caller.call_once(WORKFLOW_METHODS["TerminateWorkflow"], request)

    async def describe(self) -> WorkflowExecutionDescription:
        """Where the run stands and what it waits for."""
        request = DescribeWorkflowRequest(namespace=self._client.namespace, execution=self._execution())
        response = await self._client.caller.call(WORKFLOW_METHODS["DescribeWorkflow"], request)
        return description_of(response, self._client.data_converter)

    async def fetch_history(self) -> WorkflowHistory:
        """The run's events so far, all in memory."""
        events: list[HistoryEvent] = []
        run_id = self.run_id
        async for page in self._pages(self._history_request()):
            events.extend(page.history.events)
            run_id = page.run_id
        return WorkflowHistory(workflow_id=self.id, run_id=run_id, events=tuple(events))

    async def fetch_history_events(self, *, wait_new_event: bool = False) -> AsyncIterator[HistoryEvent]:
        """The run's events in order; with `wait_new_event`, also those to come, until the run has closed."""
        async for page in self._pages(self._history_request(wait_new_event=wait_new_event)):
            for event in page.history.events:
                yield event

    async def _pages(self, request: GetHistoryRequest) -> AsyncIterator[GetHistoryResponse]:
        while True:
            page = await self._page(request)
            yield page
            if not page.next_page_token:
                return
            request.execution.run_id = page.run_id
            request.next_page_token = page.next_page_token

    async def _page(self, request: GetHistoryRequest) -> GetHistoryResponse:
        method = WORKFLOW_METHODS["GetHistory"]
        page: GetHistoryResponse = await self._client.caller.call(method, request, timeout_ms=_LONG_POLL_TIMEOUT_MS)
        return page

    def _history_request(self, *, wait_new_event: bool = False, close_event_only: bool = False) -> GetHistoryRequest:
        return GetHistoryRequest(
            namespace=self._client.namespace,
            execution=self._execution(),
            wait_new_event=wait_new_event,
            close_event_only=close_event_only,
        )

    def _execution(self) -> common.WorkflowExecution:
        return common.WorkflowExecution(workflow_id=self.id, run_id=self.run_id)

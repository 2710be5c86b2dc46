"""Starting, finding, listing and counting workflows, over every transport."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.client.fake_server import FakeServer, completed, page
from tests.client.transports import KINDS, connected
from tests.client.workflows import Order, Receipt, buy, echo
from tests.wire.fake_services import serving
from towline.api.common_pb2 import WORKFLOW_EXECUTION_STATUS_RUNNING, WorkflowExecution
from towline.api.workflow_service_pb2 import (
    CountWorkflowsRequest,
    CountWorkflowsResponse,
    ListWorkflowsRequest,
    ListWorkflowsResponse,
    StartWorkflowRequest,
    WorkflowExecutionInfo,
    WorkflowFilter,
)
from towline.client import Client, NotFoundError, RpcError, WorkflowExecutionStatus
from towline.convert import DataConverter
from towline.core.refusal import Refused
from towline.exceptions import WorkflowAlreadyStartedError
from towline.rpc import METHODS
from towline.status import Status
from towline.testing.clock import FakeClock
from towline.testing.ids import SequenceIds


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=KINDS)
async def client(request: pytest.FixtureRequest, server: FakeServer) -> AsyncIterator[Client]:
    async with connected(request.param, server, ids=SequenceIds("id")) as connection:
        yield Client(connection, namespace="shop", identity="me")


@pytest.fixture
async def patient(server: FakeServer, clock: FakeClock) -> AsyncIterator[Client]:
    """A client whose time stands still."""
    async with connected("local", server, clock=clock) as connection:
        yield Client(connection)


def refusing(status: Status, *, times: int = 1_000) -> Callable[[Any, Any], Any]:
    """Refuses a number of times, then answers with run-1."""
    remaining = times

    async def handler(_request: object, _caller: object) -> bytes:
        nonlocal remaining
        remaining -= 1
        if remaining >= 0:
            raise Refused(status, "no")
        return b"\x0a\x05run-1"

    return handler


async def test_start_sends_what_was_asked(server: FakeServer, client: Client) -> None:
    handle = await client.start_workflow(
        buy, "o-1", 3, id="order-7", task_queue="orders", task_timeout=timedelta(seconds=30)
    )
    assert (handle.id, handle.run_id) == ("order-7", "run-1")
    assert server.requests == [
        StartWorkflowRequest(
            namespace="shop",
            workflow_id="order-7",
            workflow_type="Buy",
            task_queue="orders",
            input=DataConverter.default.to_payloads(["o-1", 3]),
            workflow_task_timeout_ms=30_000,
            identity="me",
            request_id="id-1",
        )
    ]


@pytest.mark.parametrize(("workflow", "name"), [(echo, "echo"), (Order, "Order"), ("Other", "Other")])
async def test_a_workflow_is_named_by_what_was_decorated_or_by_its_type(
    server: FakeServer, client: Client, workflow: Any, name: str
) -> None:
    await client.start_workflow(workflow, "x", id="w", task_queue="q")
    assert server.requests[0].workflow_type == name


async def test_what_is_not_decorated_is_no_workflow(client: Client) -> None:
    async def plain() -> None: ...

    with pytest.raises(TypeError, match=r"decorate it with @workflow\.defn"):
        await client.start_workflow(plain, id="w", task_queue="q")


async def test_a_request_id_may_be_chosen(server: FakeServer, client: Client) -> None:
    await client.start_workflow(echo, "hi", id="w", task_queue="q", request_id="mine")
    assert server.requests[0].request_id == "mine"


async def test_execute_starts_and_gives_the_result_as_it_was_annotated(server: FakeServer, client: Client) -> None:
    server.pages = [page(completed({"order": "o-1", "pieces": 3}))]
    assert await client.execute_workflow(Order, "o-1", id="w", task_queue="q") == Receipt("o-1", 3)


async def test_the_result_of_a_named_workflow_has_the_type_that_was_asked_for(
    server: FakeServer, client: Client
) -> None:
    server.pages = [page(completed({"order": "o-1", "pieces": 3}))] * 2
    typed = await client.execute_workflow("Buy", "o-1", id="w", task_queue="q", result_type=Receipt)
    untyped = await client.execute_workflow("Buy", "o-1", id="w", task_queue="q")
    assert (typed, untyped) == (Receipt("o-1", 3), {"order": "o-1", "pieces": 3})


async def test_an_id_that_runs_already_is_an_error_of_its_own(server: FakeServer, client: Client) -> None:
    server.handlers["StartWorkflow"] = refusing(Status.ALREADY_EXISTS)
    with pytest.raises(WorkflowAlreadyStartedError, match="workflow 'w' is already running") as failed:
        await client.start_workflow(echo, "hi", id="w", task_queue="q")
    assert (failed.value.workflow_id, failed.value.workflow_type) == ("w", "echo")


async def test_what_is_not_found_is_an_error_of_its_own(server: FakeServer, client: Client) -> None:
    server.handlers["StartWorkflow"] = refusing(Status.NOT_FOUND)
    with pytest.raises(NotFoundError) as failed:
        await client.start_workflow(echo, "hi", id="w", task_queue="q")
    assert failed.value.status is Status.NOT_FOUND


async def test_a_start_is_repeated_as_the_same_request_while_the_server_is_away(
    server: FakeServer, patient: Client, clock: FakeClock
) -> None:
    server.handlers["StartWorkflow"] = refusing(Status.UNAVAILABLE, times=7)
    starting = asyncio.create_task(patient.start_workflow(echo, "hi", id="w", task_queue="q"))
    for delay_ms in (100, 200, 400, 800, 1_600, 3_200, 5_000):
        await clock.wait_for_timer(delay_ms)
        clock.advance(delay_ms)
    assert (await starting).run_id == "run-1"
    assert len({request.request_id for request in server.sent(StartWorkflowRequest)}) == 1
    assert len(server.requests) == 8


async def test_a_start_gives_up_after_30_s(server: FakeServer, patient: Client, clock: FakeClock) -> None:
    server.handlers["StartWorkflow"] = refusing(Status.UNAVAILABLE)
    starting = asyncio.create_task(patient.start_workflow(echo, "hi", id="w", task_queue="q"))
    for delay_ms in (100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000, 5_000):
        await clock.wait_for_timer(delay_ms)
        clock.advance(delay_ms)
    with pytest.raises(RpcError) as failed:
        await starting
    assert failed.value.status is Status.UNAVAILABLE
    assert (len(server.requests), clock.elapsed_ms) == (11, 26_300)


async def test_other_refusals_are_not_repeated(server: FakeServer, client: Client) -> None:
    server.handlers["StartWorkflow"] = refusing(Status.INVALID_ARGUMENT)
    with pytest.raises(RpcError, match="INVALID_ARGUMENT: no"):
        await client.start_workflow(echo, "hi", id="w", task_queue="q")
    assert len(server.requests) == 1


def info(workflow_id: str) -> WorkflowExecutionInfo:
    return WorkflowExecutionInfo(
        execution=WorkflowExecution(workflow_id=workflow_id, run_id="r"),
        workflow_type="Buy",
        task_queue="orders",
        status=WORKFLOW_EXECUTION_STATUS_RUNNING,
        start_time_ms=1_500,
        history_length=3,
        history_size_bytes=200,
    )


async def test_a_list_follows_its_pages(server: FakeServer, client: Client) -> None:
    pages = {
        b"": ListWorkflowsResponse(executions=[info("a"), info("b")], next_page_token=b"2"),
        b"2": ListWorkflowsResponse(executions=[info("c")]),
    }

    async def list_workflows(request: ListWorkflowsRequest, _caller: object) -> ListWorkflowsResponse:
        return pages[request.next_page_token]

    server.handlers["ListWorkflows"] = list_workflows
    runs = [run async for run in client.list_workflows(workflow_type="Buy", page_size=2)]
    assert [run.id for run in runs] == ["a", "b", "c"]
    assert (runs[0].status, runs[0].start_time, runs[0].close_time) == (
        WorkflowExecutionStatus.RUNNING,
        datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC),
        None,
    )
    assert server.requests[0] == ListWorkflowsRequest(
        namespace="shop", filter=WorkflowFilter(workflow_type="Buy"), page_size=2
    )


async def test_a_count_is_a_number(server: FakeServer, client: Client) -> None:
    async def count(_request: object, _caller: object) -> CountWorkflowsResponse:
        return CountWorkflowsResponse(count=42)

    server.handlers["CountWorkflows"] = count
    assert await client.count_workflows(status=WorkflowExecutionStatus.RUNNING) == 42
    assert server.requests == [
        CountWorkflowsRequest(namespace="shop", filter=WorkflowFilter(status=WORKFLOW_EXECUTION_STATUS_RUNNING))
    ]


async def test_an_identity_is_made_up_of_process_and_host(server: FakeServer) -> None:
    async with connected("local", server) as connection:
        assert "@" in Client(connection).identity


async def test_leaving_the_block_closes_the_connection(server: FakeServer) -> None:
    async with connected("local", server) as connection:
        async with Client(connection) as client:
            await client.start_workflow(echo, "hi", id="w", task_queue="q")
        with pytest.raises(RpcError, match="the connection was closed"):
            await connection.transport.call(METHODS["StartWorkflow"], StartWorkflowRequest())


async def test_connect_reaches_a_server_from_the_io_thread() -> None:
    services = FakeServer(page(completed("hi")))
    async with serving(services) as target, await Client.connect(target, namespace="shop", identity="me") as client:
        assert await client.execute_workflow(echo, "hi", id="w", task_queue="q") == "hi"
    assert services.requests[0].namespace == "shop"

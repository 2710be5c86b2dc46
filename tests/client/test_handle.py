"""What can be done with a workflow from outside, over every transport."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.client.fake_server import FakeServer, completed, failed, page, terminated
from tests.client.transports import KINDS, connected
from tests.client.workflows import Order
from tests.wire.fake_services import FakeServices
from towline.api.common_pb2 import WORKFLOW_EXECUTION_STATUS_COMPLETED, WorkflowExecution
from towline.api.failure_pb2 import ActivityFailureInfo, ApplicationFailureInfo, Failure
from towline.api.history_pb2 import HistoryEvent
from towline.api.workflow_service_pb2 import (
    DescribeWorkflowRequest,
    DescribeWorkflowResponse,
    GetHistoryRequest,
    PendingActivityInfo,
    PendingWorkflowTaskInfo,
    SignalWorkflowRequest,
    TerminateWorkflowRequest,
    WorkflowExecutionInfo,
)
from towline.client import Client, NotFoundError, RpcError, WorkflowExecutionStatus, WorkflowFailureError
from towline.convert import DataConverter
from towline.core.refusal import Refused, not_found
from towline.exceptions import ApplicationError, TerminatedError, TowlineError
from towline.status import Status
from towline.testing.clock import FakeClock
from towline.testing.ids import SequenceIds


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


@pytest.fixture(params=KINDS)
async def client(request: pytest.FixtureRequest, server: FakeServer) -> AsyncIterator[Client]:
    async with connected(request.param, server, ids=SequenceIds("id")) as connection:
        yield Client(connection, namespace="shop", identity="me")


def refuse(services: FakeServices, method: str, refusal: Refused) -> None:
    async def handler(_request: object, _caller: object) -> bytes:
        raise refusal

    services.handlers[method] = handler


async def test_a_result_is_waited_for_again_and_again_on_the_same_run(server: FakeServer, client: Client) -> None:
    server.pages = [page(token=b"1"), page(token=b"2"), page(completed("HI"))]
    assert await client.get_workflow_handle("w", result_type=str).result() == "HI"
    assert server.requests == [
        GetHistoryRequest(
            namespace="shop",
            execution=WorkflowExecution(workflow_id="w", run_id=run_id),
            next_page_token=token,
            wait_new_event=True,
            close_event_only=True,
        )
        for run_id, token in (("", b""), ("run-1", b"1"), ("run-1", b"2"))
    ]


async def test_a_result_that_is_nothing_is_none(server: FakeServer, client: Client) -> None:
    server.pages = [page(completed(None))]
    assert await client.get_workflow_handle("w").result() is None


async def test_a_failure_is_the_cause(server: FakeServer, client: Client) -> None:
    info = ApplicationFailureInfo(type="CardDeclined", non_retryable=True)
    server.pages = [page(failed(Failure(message="no money", application_failure_info=info)))]
    with pytest.raises(WorkflowFailureError, match="workflow 'w' did not complete: CardDeclined: no money") as raised:
        await client.get_workflow_handle("w").result()
    cause = raised.value.cause
    assert isinstance(cause, ApplicationError)
    assert (cause.type, cause.non_retryable) == ("CardDeclined", True)


async def test_the_failure_names_all_causes_a_line_of_each(server: FakeServer, client: Client) -> None:
    bottom = Failure(message="'moon'\nand more", application_failure_info=ApplicationFailureInfo(type="KeyError"))
    middle = Failure(message="x" * 400, application_failure_info=ApplicationFailureInfo(), cause=bottom)
    top = Failure(message="activity '1' of type 'ship' failed", activity_failure_info=ActivityFailureInfo())
    top.cause.CopyFrom(middle)
    server.pages = [page(failed(top))]
    with pytest.raises(WorkflowFailureError) as raised:
        await client.get_workflow_handle("w").result()
    assert str(raised.value) == (
        f"workflow 'w' did not complete: activity '1' of type 'ship' failed, caused by {'x' * 300}…, "
        "caused by KeyError: 'moon'"
    )


def test_a_status_prints_its_name() -> None:
    status = WorkflowExecutionStatus.RUNNING
    assert (f"{status}", str(status), f"{status:>9}", int(status)) == ("RUNNING", "RUNNING", "  RUNNING", 1)


async def test_a_termination_is_the_cause_with_its_reason(server: FakeServer, client: Client) -> None:
    server.pages = [page(terminated("too expensive", 42))]
    with pytest.raises(WorkflowFailureError, match="too expensive") as raised:
        await client.get_workflow_handle("w").result()
    cause = raised.value.cause
    assert isinstance(cause, TerminatedError)
    assert cause.details == (42,)


async def test_a_closing_event_that_is_not_known_says_to_upgrade(server: FakeServer, client: Client) -> None:
    server.pages = [page(HistoryEvent(event_id=9))]
    with pytest.raises(TowlineError, match="upgrade"):
        await client.get_workflow_handle("w").result()


async def test_a_run_that_ends_without_an_event_is_an_error_and_not_a_loop(server: FakeServer, client: Client) -> None:
    server.pages = [page()]
    with pytest.raises(RpcError, match="has no closing event"):
        await client.get_workflow_handle("w").result()


async def test_a_signal_goes_to_the_handlers_name_with_its_arguments(server: FakeServer, client: Client) -> None:
    handle = client.get_workflow_handle("w", run_id="run-1")
    await handle.signal(Order.cancel, "too late")
    await handle.signal(Order.ship)
    await handle.signal("anything", 1, "two")
    expected: list[tuple[str, list[Any]]] = [("cancel-order", ["too late"]), ("ship", []), ("anything", [1, "two"])]
    assert server.requests == [
        SignalWorkflowRequest(
            namespace="shop",
            execution=WorkflowExecution(workflow_id="w", run_id="run-1"),
            signal_name=name,
            input=DataConverter.default.to_payloads(args),
            identity="me",
            request_id=f"id-{number}",
        )
        for number, (name, args) in enumerate(expected, start=1)
    ]


async def test_what_is_no_signal_handler_is_a_type_error(client: Client) -> None:
    with pytest.raises(TypeError, match=r"decorate it with @workflow\.signal"):
        await client.get_workflow_handle("w").signal(Order.run, "x")  # type: ignore[arg-type]


async def test_terminate_sends_reason_and_details(server: FakeServer, client: Client) -> None:
    await client.get_workflow_handle("w").terminate({"ticket": 7}, reason="too expensive")
    assert server.requests == [
        TerminateWorkflowRequest(
            namespace="shop",
            execution=WorkflowExecution(workflow_id="w"),
            reason="too expensive",
            details=DataConverter.default.to_payloads([{"ticket": 7}]),
            identity="me",
        )
    ]


async def test_terminate_is_not_repeated(server: FakeServer, client: Client) -> None:
    refuse(server, "TerminateWorkflow", Refused(Status.UNAVAILABLE, "away"))
    with pytest.raises(RpcError, match="away"):
        await client.get_workflow_handle("w").terminate()
    assert len(server.requests) == 1


async def test_a_signal_is_repeated_as_the_same_request_while_the_server_is_away(server: FakeServer) -> None:
    clock = FakeClock()
    refuse(server, "SignalWorkflow", Refused(Status.UNAVAILABLE, "away"))
    async with connected("local", server, clock=clock) as connection:
        signalling = asyncio.create_task(Client(connection).get_workflow_handle("w").signal("s"))
        await clock.wait_for_timer(100)
        del server.handlers["SignalWorkflow"]
        clock.advance(100)
        await signalling
    first, second = server.requests
    assert first == second


@pytest.mark.parametrize("method", ["GetHistory", "SignalWorkflow", "TerminateWorkflow", "DescribeWorkflow"])
async def test_a_workflow_that_is_not_there_is_not_found(server: FakeServer, client: Client, method: str) -> None:
    refuse(server, method, not_found("workflow w is not there"))
    handle = client.get_workflow_handle("w")
    calls = {
        "GetHistory": handle.result,
        "SignalWorkflow": lambda: handle.signal("s"),
        "TerminateWorkflow": handle.terminate,
        "DescribeWorkflow": handle.describe,
    }
    with pytest.raises(NotFoundError, match="workflow w is not there"):
        await calls[method]()


DESCRIPTION = DescribeWorkflowResponse(
    info=WorkflowExecutionInfo(
        execution=WorkflowExecution(workflow_id="w", run_id="run-1"),
        workflow_type="Buy",
        task_queue="orders",
        status=WORKFLOW_EXECUTION_STATUS_COMPLETED,
        start_time_ms=1_000,
        close_time_ms=2_000,
        history_length=11,
        history_size_bytes=512,
    ),
    pending_activities=[
        PendingActivityInfo(
            activity_id="1",
            activity_type="charge",
            attempt=3,
            next_attempt_time_ms=5_000,
            last_failure=Failure(message="no money", application_failure_info=ApplicationFailureInfo()),
            heartbeat_details=DataConverter.default.to_payloads([50]),
            last_worker_identity="worker-1",
        )
    ],
    pending_workflow_task=PendingWorkflowTaskInfo(attempt=2, started=True),
)


async def test_a_description_is_readable(server: FakeServer, client: Client) -> None:
    async def describe(request: DescribeWorkflowRequest, _caller: object) -> DescribeWorkflowResponse:
        assert request.execution.workflow_id == "w"
        return DESCRIPTION

    server.handlers["DescribeWorkflow"] = describe
    description = await client.get_workflow_handle("w").describe()
    assert (description.id, description.run_id, description.status) == (
        "w",
        "run-1",
        WorkflowExecutionStatus.COMPLETED,
    )
    assert description.execution.close_time == datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC)
    (activity,) = description.pending_activities
    assert (activity.attempt, activity.heartbeat_details, str(activity.last_failure)) == (3, (50,), "no money")
    assert activity.next_attempt_time == datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)
    task = description.pending_workflow_task
    assert task is not None
    assert (task.attempt, task.started, task.next_attempt_time, task.last_failure) == (2, True, None, None)


async def test_a_status_of_a_newer_server_is_unspecified() -> None:
    assert WorkflowExecutionStatus(99) is WorkflowExecutionStatus.UNSPECIFIED


async def test_a_history_is_all_its_pages(server: FakeServer, client: Client) -> None:
    events = [HistoryEvent(event_id=number) for number in range(1, 5)]
    server.pages = [page(*events[:2], token=b"1"), page(*events[2:])]
    history = await client.get_workflow_handle("w").fetch_history()
    assert (history.workflow_id, history.run_id, list(history.events)) == ("w", "run-1", events)
    assert [request.execution.run_id for request in server.requests] == ["", "run-1"]


async def test_events_can_be_followed(server: FakeServer, client: Client) -> None:
    server.pages = [page(HistoryEvent(event_id=1), token=b"1"), page(token=b"1"), page(HistoryEvent(event_id=2))]
    handle = client.get_workflow_handle("w")
    seen = [event.event_id async for event in handle.fetch_history_events(wait_new_event=True)]
    assert seen == [1, 2]
    assert all(request.wait_new_event for request in server.requests)

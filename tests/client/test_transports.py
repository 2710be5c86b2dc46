"""What every transport does, whatever it travels on."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.client.transports import KINDS, connected
from tests.wire.fake_services import FakeServices, WaitingPoll
from towline import limits
from towline.api.common_pb2 import WorkflowExecution
from towline.api.task_service_pb2 import PollActivityTaskResponse, PollRequest
from towline.api.workflow_service_pb2 import (
    CountWorkflowsResponse,
    SignalWorkflowRequest,
    StartWorkflowRequest,
    StartWorkflowResponse,
)
from towline.client.connection import Connection
from towline.client.transport.api import ConnectionClosed, RpcError
from towline.core.refusal import Refused
from towline.rpc import METHODS
from towline.status import Status

START = METHODS["StartWorkflow"]
POLL = METHODS["PollActivityTask"]


@pytest.fixture
def services() -> FakeServices:
    return FakeServices()


@pytest.fixture(params=KINDS)
async def connection(request: pytest.FixtureRequest, services: FakeServices) -> AsyncIterator[Connection]:
    async with connected(request.param, services) as connection:
        yield connection


async def failure_of(calling: Any) -> RpcError:
    with pytest.raises(RpcError) as failed:
        await calling
    return failed.value


async def test_an_answer_comes_back(services: FakeServices, connection: Connection) -> None:
    async def start(request: StartWorkflowRequest, _caller: object) -> StartWorkflowResponse:
        return StartWorkflowResponse(run_id=f"run of {request.workflow_id}")

    services.handlers["StartWorkflow"] = start
    answer = await connection.call(START, StartWorkflowRequest(workflow_id="order-7"))
    assert answer == StartWorkflowResponse(run_id="run of order-7")


async def test_an_answer_that_the_services_encoded_is_decoded(services: FakeServices, connection: Connection) -> None:
    async def count(_request: object, _caller: object) -> bytes:
        return CountWorkflowsResponse(count=3).SerializeToString()

    services.handlers["CountWorkflows"] = count
    answer = await connection.call(METHODS["CountWorkflows"], METHODS["CountWorkflows"].request_type())
    assert answer == CountWorkflowsResponse(count=3)


async def test_many_calls_at_once_get_their_own_answers(services: FakeServices, connection: Connection) -> None:
    async def start(request: StartWorkflowRequest, _caller: object) -> StartWorkflowResponse:
        return StartWorkflowResponse(run_id=request.workflow_id)

    services.handlers["StartWorkflow"] = start
    ids = [str(number) for number in range(200)]
    answers = await asyncio.gather(*(connection.call(START, StartWorkflowRequest(workflow_id=id)) for id in ids))
    assert [answer.run_id for answer in answers] == ids


async def test_nobody_shares_a_message_with_the_services(services: FakeServices, connection: Connection) -> None:
    kept = StartWorkflowResponse(run_id="r")

    async def start(request: StartWorkflowRequest, _caller: object) -> StartWorkflowResponse:
        request.workflow_id = "changed"
        return kept

    services.handlers["StartWorkflow"] = start
    request = StartWorkflowRequest(workflow_id="w")
    answer = await connection.call(START, request)
    answer.run_id = "changed"
    assert (request.workflow_id, kept.run_id) == ("w", "r")


async def test_both_services_are_reached(services: FakeServices, connection: Connection) -> None:
    await connection.call(POLL, PollRequest(task_queue="q"))
    await connection.call(
        METHODS["SignalWorkflow"], SignalWorkflowRequest(execution=WorkflowExecution(workflow_id="w"))
    )
    assert [type(request).__name__ for request in services.requests] == ["PollRequest", "SignalWorkflowRequest"]


@pytest.mark.parametrize("status", [Status.INVALID_ARGUMENT, Status.FAILED_PRECONDITION, Status.UNIMPLEMENTED])
async def test_a_refusal_keeps_status_and_message(
    services: FakeServices, connection: Connection, status: Status
) -> None:
    async def refuse(_request: object, _caller: object) -> bytes:
        raise Refused(status, "no, and this is why")

    services.handlers["StartWorkflow"] = refuse
    error = await failure_of(connection.call(START, StartWorkflowRequest()))
    assert (error.status, error.message) == (status, "no, and this is why")


async def test_a_bug_in_the_services_is_internal(services: FakeServices, connection: Connection) -> None:
    async def fail(_request: object, _caller: object) -> bytes:
        raise KeyError("x")

    services.handlers["StartWorkflow"] = fail
    error = await failure_of(connection.call(START, StartWorkflowRequest()))
    assert error.status is Status.INTERNAL
    assert "StartWorkflow failed" in error.message
    assert "KeyError" in error.message


async def test_a_request_over_4_mib_is_not_sent_and_named(services: FakeServices, connection: Connection) -> None:
    error = await failure_of(connection.call(START, StartWorkflowRequest(identity="x" * limits.MESSAGE_SIZE_BYTES)))
    assert error.status is Status.RESOURCE_EXHAUSTED
    assert "the request of StartWorkflow is 4194309 bytes, the limit is 4194304" in error.message
    assert services.requests == []


async def test_a_request_of_4_mib_is_sent(services: FakeServices, connection: Connection) -> None:
    request = StartWorkflowRequest(identity="x" * (limits.MESSAGE_SIZE_BYTES - 5))
    await connection.call(START, request)
    assert services.requests == [request]


async def test_an_answer_over_4_mib_is_refused_and_given_back(services: FakeServices, connection: Connection) -> None:
    gone = asyncio.Event()

    async def poll(_request: object, caller: Any) -> PollActivityTaskResponse:
        caller.on_gone(gone.set)
        return PollActivityTaskResponse(task_token=b"x" * limits.MESSAGE_SIZE_BYTES)

    services.handlers["PollActivityTask"] = poll
    error = await failure_of(connection.call(POLL, PollRequest()))
    assert error.status is Status.RESOURCE_EXHAUSTED
    assert "the response of PollActivityTask is 4194309 bytes" in error.message
    await gone.wait()


async def test_cancelling_a_call_cancels_it_on_the_server(services: FakeServices, connection: Connection) -> None:
    poll = services.handlers["PollActivityTask"] = WaitingPoll()
    polling = asyncio.create_task(connection.call(POLL, PollRequest()))
    await poll.entered.wait()
    polling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await polling
    await poll.cancelled.wait()
    await poll.gone.wait()


async def test_a_call_that_takes_too_long_is_cancelled_on_the_server(
    services: FakeServices, connection: Connection
) -> None:
    poll = services.handlers["PollActivityTask"] = WaitingPoll()
    error = await failure_of(connection.call(POLL, PollRequest(), timeout_ms=50))
    assert error.status is Status.DEADLINE_EXCEEDED
    await poll.cancelled.wait()


async def test_an_answer_in_time_lets_nobody_be_gone(services: FakeServices, connection: Connection) -> None:
    poll = services.handlers["PollActivityTask"] = WaitingPoll()
    poll.answer.set_result(PollActivityTaskResponse(task_token=b"t"))
    answer = await connection.call(POLL, PollRequest(), timeout_ms=60_000)
    assert answer.task_token == b"t"
    await connection.call(START, StartWorkflowRequest())
    assert not poll.gone.is_set()


async def test_closing_fails_what_runs_and_what_comes_later(services: FakeServices, connection: Connection) -> None:
    poll = services.handlers["PollActivityTask"] = WaitingPoll()
    polling = asyncio.create_task(connection.call(POLL, PollRequest()))
    await poll.entered.wait()
    await connection.close()
    assert isinstance(await failure_of(polling), ConnectionClosed)
    await poll.cancelled.wait()
    assert isinstance(await failure_of(connection.call(POLL, PollRequest())), ConnectionClosed)
    assert isinstance(await failure_of(connection.transport.call(POLL, PollRequest())), ConnectionClosed)
    await connection.close()


async def test_the_services_know_how_long_the_caller_waits(services: FakeServices, connection: Connection) -> None:
    poll = services.handlers["PollActivityTask"] = WaitingPoll()
    poll.answer.set_result(PollActivityTaskResponse())
    await connection.call(POLL, PollRequest(), timeout_ms=5_000)
    assert poll.deadline_ms is not None
    assert 0 < poll.deadline_ms < limits.LONG_POLL_TIMEOUT_MS

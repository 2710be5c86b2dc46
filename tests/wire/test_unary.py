"""Single calls over real gRPC, as a client of any language makes them."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc.aio
import pytest
from structlog.testing import capture_logs

from tests.wire.fake_services import FakeServices, WaitingPoll, serving
from towline import limits
from towline.api.task_service_pb2 import PollActivityTaskResponse, PollRequest
from towline.api.workflow_service_pb2 import CountWorkflowsResponse, StartWorkflowRequest, StartWorkflowResponse
from towline.client.transport.channel import OPTIONS
from towline.core.refusal import Refused
from towline.rpc import METHODS, Method
from towline.status import Status
from towline.store.api import StoreError

START = METHODS["StartWorkflow"]
POLL = METHODS["PollActivityTask"]


@pytest.fixture
def services() -> FakeServices:
    return FakeServices()


@pytest.fixture
async def channel(services: FakeServices) -> AsyncIterator[grpc.aio.Channel]:
    async with serving(services) as target, grpc.aio.insecure_channel(target, options=OPTIONS) as channel:
        yield channel


def call(channel: grpc.aio.Channel, method: Method, request: bytes = b"", **options: Any) -> Any:
    return channel.unary_unary(method.path, None, None)(request, **options)


def raising(error: Exception) -> Any:
    async def handler(_request: object, _caller: object) -> bytes:
        raise error

    return handler


async def failure_of(calling: Any) -> grpc.aio.AioRpcError:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await calling
    return failed.value


async def test_a_message_goes_to_the_services_and_their_answer_comes_back(
    services: FakeServices, channel: grpc.aio.Channel
) -> None:
    async def start(request: StartWorkflowRequest, _caller: object) -> StartWorkflowResponse:
        return StartWorkflowResponse(run_id=f"run of {request.workflow_id}", started=True)

    services.handlers["StartWorkflow"] = start
    answer = await call(channel, START, StartWorkflowRequest(workflow_id="order-7").SerializeToString())
    assert StartWorkflowResponse.FromString(answer) == StartWorkflowResponse(run_id="run of order-7", started=True)


async def test_an_answer_that_is_encoded_already_is_passed_on_as_it_is(
    services: FakeServices, channel: grpc.aio.Channel
) -> None:
    encoded = CountWorkflowsResponse(count=3).SerializeToString()

    async def count(_request: object, _caller: object) -> bytes:
        return encoded

    services.handlers["CountWorkflows"] = count
    assert await call(channel, METHODS["CountWorkflows"]) == encoded


async def test_every_method_of_the_contract_is_served(services: FakeServices, channel: grpc.aio.Channel) -> None:
    for method in METHODS.values():
        await call(channel, method)
    assert [type(request) for request in services.requests] == [method.request_type for method in METHODS.values()]


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.OK])
async def test_a_refusal_is_its_status_and_message(
    services: FakeServices, channel: grpc.aio.Channel, status: Status
) -> None:
    services.handlers["StartWorkflow"] = raising(Refused(status, "no: größer als möglich"))
    error = await failure_of(call(channel, START))
    assert (error.code().value[0], error.details()) == (status, "no: größer als möglich")


async def test_a_very_long_message_is_cut_and_keeps_its_status(
    services: FakeServices, channel: grpc.aio.Channel
) -> None:
    services.handlers["StartWorkflow"] = raising(Refused(Status.INVALID_ARGUMENT, "fault: " + "ü" * 50_000))
    error = await failure_of(call(channel, START))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert (error.details() or "").startswith("fault: üüü")


async def test_a_fault_behind_the_server_is_logged_with_what_it_was(
    services: FakeServices, channel: grpc.aio.Channel
) -> None:
    refusal = Refused(Status.UNAVAILABLE, "app.db: the disk is full: make room")
    refusal.__cause__ = StoreError("the disk is full")
    services.handlers["StartWorkflow"] = raising(refusal)
    with capture_logs() as logs:
        error = await failure_of(call(channel, START))
    assert (error.code(), error.details()) == (grpc.StatusCode.UNAVAILABLE, "app.db: the disk is full: make room")
    assert [(entry["event"], entry["method"], entry["error"]) for entry in logs] == [
        ("call_refused", "StartWorkflow", "the disk is full")
    ]


async def test_a_refusal_is_not_logged(services: FakeServices, channel: grpc.aio.Channel) -> None:
    services.handlers["StartWorkflow"] = raising(Refused(Status.INVALID_ARGUMENT, "no"))
    with capture_logs() as logs:
        await failure_of(call(channel, START))
    assert logs == []


async def test_a_bug_is_internal_without_its_stack_and_is_logged_with_it(
    services: FakeServices, channel: grpc.aio.Channel
) -> None:
    services.handlers["StartWorkflow"] = raising(KeyError("secret"))
    with capture_logs() as logs:
        error = await failure_of(call(channel, START))
    assert error.code() is grpc.StatusCode.INTERNAL
    assert error.details() == "StartWorkflow failed inside the server (KeyError): see the server's log"
    assert [(entry["event"], entry["method"], str(entry["exc_info"])) for entry in logs] == [
        ("call_failed", "StartWorkflow", "'secret'")
    ]


async def test_what_does_not_decode_is_an_invalid_argument(channel: grpc.aio.Channel) -> None:
    error = await failure_of(call(channel, START, b"\xff\xff"))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "no tl.durable.v1.StartWorkflowRequest" in (error.details() or "")


async def test_an_unknown_method_is_named(channel: grpc.aio.Channel) -> None:
    path = "/tl.durable.v1.TaskService/PollNothing"
    error = await failure_of(channel.unary_unary(path, None, None)(b""))
    assert error.code() is grpc.StatusCode.UNIMPLEMENTED
    assert "has no method 'PollNothing'" in (error.details() or "")


async def test_an_unknown_service_is_unimplemented(channel: grpc.aio.Channel) -> None:
    error = await failure_of(channel.unary_unary("/other.Service/StartWorkflow", None, None)(b""))
    assert error.code() is grpc.StatusCode.UNIMPLEMENTED


def padded(size_bytes: int) -> bytes:
    """An encoded StartWorkflowRequest of exactly this many bytes."""
    request = StartWorkflowRequest(identity="x" * (size_bytes - 5)).SerializeToString()
    assert len(request) == size_bytes
    return request


async def test_a_request_of_exactly_4_mib_is_taken(services: FakeServices, channel: grpc.aio.Channel) -> None:
    await call(channel, START, padded(limits.MESSAGE_SIZE_BYTES))
    assert len(services.requests) == 1


async def test_a_request_a_byte_over_4_mib_is_refused_and_named(
    services: FakeServices, channel: grpc.aio.Channel
) -> None:
    error = await failure_of(call(channel, START, padded(limits.MESSAGE_SIZE_BYTES + 1)))
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "the request of StartWorkflow is 4194305 bytes, the limit is 4194304" in (error.details() or "")
    assert services.requests == []


async def test_a_request_far_too_large_is_refused_by_grpc(services: FakeServices) -> None:
    options = [("grpc.max_send_message_length", -1)]
    async with serving(services) as target, grpc.aio.insecure_channel(target, options=options) as channel:
        error = await failure_of(call(channel, START, b"x" * (5 * limits.MIB)))
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert services.requests == []


async def test_an_answer_over_4_mib_is_refused_and_what_it_leased_is_given_back(
    services: FakeServices, channel: grpc.aio.Channel
) -> None:
    gone = asyncio.Event()

    async def poll(_request: PollRequest, caller: Any) -> PollActivityTaskResponse:
        caller.on_gone(gone.set)
        return PollActivityTaskResponse(task_token=b"x" * limits.MESSAGE_SIZE_BYTES)

    services.handlers["PollActivityTask"] = poll
    error = await failure_of(call(channel, POLL))
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "the response of PollActivityTask is 4194309 bytes" in (error.details() or "")
    assert gone.is_set()


async def test_a_caller_that_cancels_ends_its_call(services: FakeServices, channel: grpc.aio.Channel) -> None:
    poll = services.handlers["PollActivityTask"] = WaitingPoll()
    polling = call(channel, POLL)
    await poll.entered.wait()
    polling.cancel()
    await poll.cancelled.wait()
    await poll.gone.wait()


async def test_a_deadline_reaches_the_services_and_ends_the_call(
    services: FakeServices, channel: grpc.aio.Channel
) -> None:
    poll = services.handlers["PollActivityTask"] = WaitingPoll()
    error = await failure_of(call(channel, POLL, timeout=0.2))
    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    await poll.cancelled.wait()
    assert poll.deadline_ms is not None
    assert 0 <= poll.deadline_ms <= 200
    await poll.gone.wait()


async def test_an_answer_that_arrived_lets_nobody_be_gone(services: FakeServices, channel: grpc.aio.Channel) -> None:
    poll = services.handlers["PollActivityTask"] = WaitingPoll()
    poll.answer.set_result(PollActivityTaskResponse(task_token=b"t"))
    assert PollActivityTaskResponse.FromString(await call(channel, POLL)).task_token == b"t"
    await call(channel, START)
    assert not poll.gone.is_set()


async def test_thousands_of_calls_at_once_are_all_begun(services: FakeServices, channel: grpc.aio.Channel) -> None:
    answers = await asyncio.gather(*(call(channel, START) for _ in range(4_000)))
    assert len(answers) == len(services.requests) == 4_000

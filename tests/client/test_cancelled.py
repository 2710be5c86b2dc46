"""What gRPC cancels by itself is tried again; what the caller cancels is not."""

import asyncio

import grpc.aio

from tests.wire.fake_services import serving
from towline import limits
from towline.api.workflow_service_pb2 import StartWorkflowRequest
from towline.client.connection import Connection, Wire
from towline.client.retrying import RetryingCaller
from towline.client.transport.errors import from_grpc
from towline.core.refusal import Refused
from towline.rpc import METHODS
from towline.status import Status
from towline.testing.clock import FakeClock

START = METHODS["StartWorkflow"]


def test_a_call_that_grpc_cancelled_is_unavailable_and_says_from_where() -> None:
    metadata = grpc.aio.Metadata()
    error = from_grpc(grpc.aio.AioRpcError(grpc.StatusCode.CANCELLED, metadata, metadata, "RST", None), "server:1")
    assert error.status is Status.UNAVAILABLE
    assert error.message == "server:1: the call was cancelled from the other end (RST)"


async def test_it_is_made_again() -> None:
    tries: list[str] = []

    class Services:
        async def call(self, _method: object, request: StartWorkflowRequest, *, caller: object) -> bytes:
            tries.append(request.workflow_id)
            if len(tries) == 1:
                raise Refused(Status.CANCELLED, f"too many, {caller}")
            return b""

    clock = FakeClock()
    async with serving(Services()) as target:
        connection = await Connection.on_this_loop(target, wire=Wire.UNARY, clock=clock)
        calling = RetryingCaller(connection).call(START, StartWorkflowRequest(workflow_id="w"))
        task = asyncio.create_task(calling)
        await clock.wait_for_timer(limits.RECONNECT_INITIAL_MS)
        clock.advance(limits.RECONNECT_INITIAL_MS)
        await task
        await connection.close()
    assert tries == ["w", "w"]

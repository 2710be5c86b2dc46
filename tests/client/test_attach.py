"""Attach over real gRPC: breaks, reconnects, servers that do not know it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc.aio
import pytest

from tests.wire.fake_services import FakeServices, WaitingPoll, serving
from towline import limits
from towline.api.task_service_pb2 import PollActivityTaskResponse, PollRequest, RecordHeartbeatRequest
from towline.api.workflow_service_pb2 import StartWorkflowRequest, StartWorkflowResponse
from towline.client.connection import Connection
from towline.client.retrying import RetryingCaller
from towline.client.transport.attach import AttachTransport
from towline.client.transport.attach_stream import AttachStream
from towline.rpc import METHODS, TASK_SERVICE
from towline.server.grpc.server import GrpcServer

START = METHODS["StartWorkflow"]
POLL = METHODS["PollActivityTask"]


async def test_a_call_outlives_a_restart_of_the_server() -> None:
    first = GrpcServer(FakeServices(), address="127.0.0.1:0")
    target = f"127.0.0.1:{await first.start()}"
    connection = await Connection.on_this_loop(target)
    caller = RetryingCaller(connection)
    await caller.call(START, StartWorkflowRequest(workflow_id="a"))
    await first.stop(0)

    services = FakeServices()
    second = GrpcServer(services, address=target)
    await second.start()
    await caller.call(START, StartWorkflowRequest(workflow_id="b"))
    assert services.requests == [StartWorkflowRequest(workflow_id="b")]
    await connection.close()
    await second.stop(0)


@asynccontextmanager
async def serving_unary_only(calls: list[str]) -> AsyncIterator[str]:
    """A server of somebody else's, without Attach."""

    async def start(_request: bytes, _context: Any) -> bytes:
        calls.append("StartWorkflow")
        return StartWorkflowResponse(run_id="r").SerializeToString()

    handlers = {"StartWorkflow": grpc.unary_unary_rpc_method_handler(start)}
    server = grpc.aio.server()
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(START.service, handlers)])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    yield f"127.0.0.1:{port}"
    await server.stop(None)


async def test_a_server_without_attach_gets_each_call_once_as_a_unary_one() -> None:
    calls: list[str] = []
    async with serving_unary_only(calls) as target:
        connection = await Connection.on_this_loop(target)
        for _ in range(3):
            assert (await connection.call(START, StartWorkflowRequest())).run_id == "r"
        await connection.close()
    assert calls == ["StartWorkflow"] * 3


async def test_a_client_that_vanishes_ends_its_polls() -> None:
    services = FakeServices()
    poll = services.handlers["PollActivityTask"] = WaitingPoll()
    async with serving(services) as target, grpc.aio.insecure_channel(target) as channel:
        stream = channel.stream_stream(f"/{TASK_SERVICE.full_name}/Attach", None, None)(None)
        await stream.write(b"\x0a\x14\x08\x01\x12\x10PollActivityTask")
        await poll.entered.wait()
        await channel.close(None)
        await poll.cancelled.wait()
        await poll.gone.wait()


def streams_of(connection: Connection, service: str) -> list[AttachStream]:
    assert isinstance(connection.transport, AttachTransport)
    return connection.transport._streams[service]


async def test_polls_on_a_broken_stream_do_not_stop_the_next_ones() -> None:
    services = FakeServices()
    async with serving(services) as target:
        connection = await Connection.on_this_loop(target)
        await connection.call(POLL, PollRequest(task_queue="a"))
        for stream in streams_of(connection, TASK_SERVICE.full_name):
            await stream.close()
        await connection.call(POLL, PollRequest(task_queue="b"))
        await connection.close()
    assert [request.task_queue for request in services.requests] == ["a", "b"]


async def test_another_stream_is_opened_where_one_is_full_and_gone_when_it_broke(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "ATTACH_CALLS", 2)
    services = FakeServices()
    poll = services.handlers["PollActivityTask"] = WaitingPoll()
    async with serving(services) as target:
        connection = await Connection.on_this_loop(target)
        polls = [asyncio.create_task(connection.call(POLL, PollRequest())) for _ in range(5)]
        await poll.entered.wait()
        await connection.call(METHODS["RecordHeartbeat"], RecordHeartbeatRequest())
        opened = streams_of(connection, TASK_SERVICE.full_name)
        assert len(opened) == 3
        poll.answer.set_result(PollActivityTaskResponse())
        await asyncio.gather(*polls)
        for stream in opened:
            await stream.close()
        await connection.call(POLL, PollRequest())
        assert len(streams_of(connection, TASK_SERVICE.full_name)) == 1
        await connection.close()

"""The server as a whole: where it listens, what it says of itself, how it stops."""

import asyncio
from collections.abc import AsyncIterator

import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from tests.wire.fake_services import FakeServices, WaitingPoll, serving
from towline.api.stream_pb2 import AttachRequest, AttachResponse, Call
from towline.api.task_service_pb2 import PollActivityTaskResponse
from towline.rpc import METHODS
from towline.server.grpc.server import BindError, GrpcServer
from towline.status import Status

ATTACH = "/tl.durable.v1.TaskService/Attach"
POLL = METHODS["PollActivityTask"]


async def test_a_port_that_is_taken_is_a_bind_error_that_names_it() -> None:
    async with serving(FakeServices()) as target:
        second = GrpcServer(FakeServices(), address=target)
        with pytest.raises(BindError, match=f"^cannot listen on {target}: another process may hold the port") as failed:
            await second.start()
        assert "GRPC_VERBOSITY" not in str(failed.value)
        await second.stop(0)


async def test_an_address_that_makes_no_sense_is_a_bind_error() -> None:
    with pytest.raises(BindError, match=r"cannot listen on 203\.0\.113\.1:99999"):
        await GrpcServer(FakeServices(), address="203.0.113.1:99999").start()


@pytest.mark.parametrize("service", ["", "tl.durable.v1.WorkflowService", "tl.durable.v1.TaskService"])
async def test_health_is_serving(service: str) -> None:
    async with serving(FakeServices()) as target, grpc.aio.insecure_channel(target) as channel:
        answer = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(service=service))
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def test_health_turns_to_not_serving_before_the_server_goes() -> None:
    server = GrpcServer(FakeServices(), address="127.0.0.1:0")
    port = await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
        seen = [(await watch.read()).status]
        stopping = asyncio.create_task(server.stop(10_000))
        seen.append((await watch.read()).status)
        watch.cancel()
        await stopping
    assert seen == [health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING]


async def test_reflection_lists_the_services_and_gives_their_files() -> None:
    async def ask() -> AsyncIterator[reflection_pb2.ServerReflectionRequest]:
        yield reflection_pb2.ServerReflectionRequest(list_services="")
        yield reflection_pb2.ServerReflectionRequest(file_containing_symbol="tl.durable.v1.TaskService")

    async with serving(FakeServices()) as target, grpc.aio.insecure_channel(target) as channel:
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        listed, file = [answer async for answer in stub.ServerReflectionInfo(ask())]
    names = {service.name for service in listed.list_services_response.service}
    assert {"tl.durable.v1.WorkflowService", "tl.durable.v1.TaskService", "grpc.health.v1.Health"} <= names
    assert len(file.file_descriptor_response.file_descriptor_proto) >= 1


async def test_stop_lets_a_call_end_and_then_closes() -> None:
    services = FakeServices()
    waiting = services.handlers["PollActivityTask"] = WaitingPoll()
    server = GrpcServer(services, address="127.0.0.1:0")
    port = await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        polling = channel.unary_unary(POLL.path, None, None)(b"")
        await waiting.entered.wait()
        stopping = asyncio.create_task(server.stop(60_000))
        waiting.answer.set_result(PollActivityTaskResponse(task_token=b"t"))
        assert await polling == b"\x0a\x01t"
        await stopping
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await channel.unary_unary(POLL.path, None, None)(b"")
    assert failed.value.code() is grpc.StatusCode.UNAVAILABLE
    await server.stop(0)


async def test_stop_cancels_what_outlasts_the_grace() -> None:
    services = FakeServices()
    waiting = services.handlers["PollActivityTask"] = WaitingPoll()
    server = GrpcServer(services, address="127.0.0.1:0")
    port = await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        polling = channel.unary_unary(POLL.path, None, None)(b"")
        await waiting.entered.wait()
        await server.stop(0)
        with pytest.raises(grpc.aio.AioRpcError):
            await polling
    await waiting.cancelled.wait()
    await waiting.gone.wait()


async def test_stop_ends_a_stream_after_its_replies() -> None:
    services = FakeServices()
    waiting = services.handlers["PollActivityTask"] = WaitingPoll()
    server = GrpcServer(services, address="127.0.0.1:0")
    port = await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        stream = channel.stream_stream(ATTACH, AttachRequest.SerializeToString, AttachResponse.FromString)(None)
        await stream.write(AttachRequest(calls=[Call(id=1, method="PollActivityTask")]))
        await waiting.entered.wait()
        stopping = asyncio.create_task(server.stop(60_000))
        waiting.answer.set_result(PollActivityTaskResponse(task_token=b"t"))
        frames = [frame async for frame in stream]
        await stopping
    assert [(reply.id, reply.response) for frame in frames for reply in frame.replies] == [(1, b"\x0a\x01t")]


async def test_a_client_that_ends_its_stream_ends_its_polls() -> None:
    services = FakeServices()
    waiting = services.handlers["PollActivityTask"] = WaitingPoll()
    async with serving(services) as target, grpc.aio.insecure_channel(target) as channel:
        stream = channel.stream_stream(ATTACH, AttachRequest.SerializeToString, AttachResponse.FromString)(None)
        await stream.write(AttachRequest(calls=[Call(id=1, method="PollActivityTask")]))
        await waiting.entered.wait()
        await stream.done_writing()
        assert [frame async for frame in stream] == []
    await waiting.cancelled.wait()


@pytest.mark.parametrize(
    "frame", [b"\xff\xff", AttachRequest(calls=[Call(id=1, method="PollActivityTask")] * 2).SerializeToString()]
)
async def test_a_stream_that_breaks_the_contract_is_refused(frame: bytes) -> None:
    services = FakeServices()
    services.handlers["PollActivityTask"] = WaitingPoll()
    async with serving(services) as target, grpc.aio.insecure_channel(target) as channel:
        stream = channel.stream_stream(ATTACH, None, None)(None)
        await stream.write(frame)
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await stream.read()
    assert failed.value.code().value[0] == Status.INVALID_ARGUMENT

"""The client's end of an Attach stream, against a hand-made wire."""

import asyncio
from typing import Any

import grpc.aio
import pytest

from towline import limits
from towline.api.stream_pb2 import AttachRequest, AttachResponse, Call, Reply
from towline.client.transport.api import ConnectionClosed, RpcError
from towline.client.transport.attach_stream import END_OF_STREAM, AttachStream, NoAttach
from towline.rpc import TASK_METHODS
from towline.status import Status
from towline.testing.clock import FakeClock

POLL = TASK_METHODS["PollActivityTask"]


class FakeRpc:
    """A stream whose other end is the test."""

    def __init__(self) -> None:
        self.sent: asyncio.Queue[AttachRequest] = asyncio.Queue()
        self.incoming: asyncio.Queue[Any] = asyncio.Queue()
        self.writable = asyncio.Event()
        self.writable.set()

    async def write(self, frame: bytes) -> None:
        await self.writable.wait()
        self.sent.put_nowait(AttachRequest.FromString(frame))

    async def read(self) -> Any:
        message = await self.incoming.get()
        if isinstance(message, Exception):
            raise message
        return message

    def cancel(self) -> None:
        self.incoming.put_nowait(END_OF_STREAM)

    def reply(self, *replies: Reply) -> None:
        self.incoming.put_nowait(AttachResponse(replies=replies).SerializeToString())

    def fail(self, code: grpc.StatusCode, details: str = "why") -> None:
        metadata = grpc.aio.Metadata()
        self.incoming.put_nowait(grpc.aio.AioRpcError(code, metadata, metadata, details, None))


class Stream:
    def __init__(self) -> None:
        self.rpc = FakeRpc()
        self.clock = FakeClock()
        self.stream = AttachStream(self.rpc, target="server:1", clock=self.clock)

    def call(self, request: bytes = b"", *, timeout_ms: int | None = None) -> "asyncio.Task[bytes]":
        return asyncio.create_task(self.stream.call(POLL, request, timeout_ms=timeout_ms))


async def failure_of(calling: "asyncio.Task[bytes]") -> RpcError:
    with pytest.raises(RpcError) as failed:
        await calling
    return failed.value


async def test_calls_of_one_turn_travel_in_one_frame() -> None:
    one = Stream()
    calls = [one.call(b"a"), one.call(b"b"), one.call(b"c")]
    frame = await one.rpc.sent.get()
    assert [(call.id, call.method, call.request) for call in frame.calls] == [
        (1, "PollActivityTask", b"a"),
        (2, "PollActivityTask", b"b"),
        (3, "PollActivityTask", b"c"),
    ]
    one.rpc.reply(Reply(id=3, response=b"C"), Reply(id=1, response=b"A"))
    one.rpc.reply(Reply(id=2, response=b"B"))
    assert await asyncio.gather(*calls) == [b"A", b"B", b"C"]


async def test_large_calls_are_split_over_frames() -> None:
    one = Stream()
    calls = [one.call(b"x" * (2 * limits.MIB)) for _ in range(2)]
    frames = [await one.rpc.sent.get(), await one.rpc.sent.get()]
    assert [len(frame.calls) for frame in frames] == [1, 1]
    await one.stream.close()
    await asyncio.gather(*calls, return_exceptions=True)


async def test_a_time_out_is_by_the_clock_that_was_given_and_cancels_the_call() -> None:
    one = Stream()
    calling = one.call(timeout_ms=40_000)
    await one.rpc.sent.get()
    one.clock.advance(39_999)
    assert not calling.done()
    one.clock.advance(1)
    error = await failure_of(calling)
    assert (error.status, error.message) == (
        Status.DEADLINE_EXCEEDED,
        "PollActivityTask was not answered within 40000 ms",
    )
    assert (await one.rpc.sent.get()).calls == [Call(id=1, cancel=True)]


async def test_an_answer_in_time_leaves_no_timer() -> None:
    one = Stream()
    calling = one.call(timeout_ms=40_000)
    await one.rpc.sent.get()
    one.rpc.reply(Reply(id=1, response=b"A"))
    assert await calling == b"A"
    assert one.clock.timers() == []


async def test_a_cancelled_call_sends_a_cancel_frame_and_its_late_reply_is_dropped() -> None:
    one = Stream()
    cancelled, kept = one.call(), one.call()
    await one.rpc.sent.get()
    cancelled.cancel()
    assert (await one.rpc.sent.get()).calls == [Call(id=1, cancel=True)]
    one.rpc.reply(Reply(id=1, response=b"late"), Reply(id=2, response=b"B"))
    assert await kept == b"B"


async def test_an_error_reply_keeps_its_status() -> None:
    one = Stream()
    calling = one.call()
    await one.rpc.sent.get()
    one.rpc.reply(Reply(id=1, code=Status.FAILED_PRECONDITION, message="the lease is over"))
    error = await failure_of(calling)
    assert (error.status, error.message) == (Status.FAILED_PRECONDITION, "the lease is over")


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (grpc.StatusCode.UNAVAILABLE, Status.UNAVAILABLE),
        (grpc.StatusCode.INTERNAL, Status.UNAVAILABLE),
        (grpc.StatusCode.CANCELLED, Status.UNAVAILABLE),
        (grpc.StatusCode.UNAUTHENTICATED, Status.UNAUTHENTICATED),
        (grpc.StatusCode.PERMISSION_DENIED, Status.PERMISSION_DENIED),
    ],
)
async def test_a_stream_that_breaks_fails_all_its_calls(code: grpc.StatusCode, status: Status) -> None:
    one = Stream()
    calls = [one.call(), one.call()]
    await one.rpc.sent.get()
    one.rpc.fail(code)
    assert [(await failure_of(calling)).status for calling in calls] == [status, status]
    assert one.stream.ended


async def test_a_stream_that_the_server_ends_fails_its_calls() -> None:
    one = Stream()
    calling = one.call()
    await one.rpc.sent.get()
    one.rpc.incoming.put_nowait(END_OF_STREAM)
    error = await failure_of(calling)
    assert (error.status, error.message) == (Status.UNAVAILABLE, "server:1: the server ended the stream")


async def test_a_server_without_attach_is_told_apart() -> None:
    one = Stream()
    calling = one.call()
    await one.rpc.sent.get()
    one.rpc.fail(grpc.StatusCode.UNIMPLEMENTED)
    with pytest.raises(NoAttach):
        await calling


async def test_unimplemented_after_an_answer_is_a_break_like_others() -> None:
    one = Stream()
    first, second = one.call(), one.call()
    await one.rpc.sent.get()
    one.rpc.reply(Reply(id=1, response=b"A"))
    assert await first == b"A"
    one.rpc.fail(grpc.StatusCode.UNIMPLEMENTED)
    assert (await failure_of(second)).status is Status.UNAVAILABLE


async def stuck() -> "tuple[Stream, asyncio.Task[bytes]]":
    """A stream whose server reads nothing; the first call is being written."""
    one = Stream()
    one.rpc.writable.clear()
    first = one.call()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return one, first


async def test_calls_that_time_out_or_are_cancelled_before_they_are_written_are_never_written() -> None:
    one, first = await stuck()
    timed_out = [one.call(b"x" * limits.MIB, timeout_ms=1_000) for _ in range(20)]
    cancelled, kept = one.call(b"cancelled"), one.call(b"kept")
    await asyncio.sleep(0)
    one.clock.advance(1_000)
    assert {(await failure_of(calling)).status for calling in timed_out} == {Status.DEADLINE_EXCEEDED}
    cancelled.cancel()
    await asyncio.wait([cancelled])
    one.rpc.writable.set()
    frames = [await one.rpc.sent.get(), await one.rpc.sent.get()]
    assert [[call.request for call in frame.calls] for frame in frames] == [[b""], [b"kept"]]
    await one.stream.close()
    await asyncio.gather(first, kept, return_exceptions=True)


async def test_a_call_that_is_cancelled_while_it_is_written_is_cancelled_on_the_server() -> None:
    one, first = await stuck()
    first.cancel()
    await asyncio.wait([first])
    one.rpc.writable.set()
    await one.rpc.sent.get()
    assert (await one.rpc.sent.get()).calls == [Call(id=1, cancel=True)]


async def test_the_server_is_told_how_long_the_caller_waits() -> None:
    one = Stream()
    calls = [one.call(timeout_ms=1_500), one.call()]
    frame = await one.rpc.sent.get()
    assert [call.timeout_ms for call in frame.calls] == [1_500, 0]
    await one.stream.close()
    await asyncio.gather(*calls, return_exceptions=True)


async def test_closing_says_that_the_connection_is_closed_for_good() -> None:
    one = Stream()
    calling = one.call()
    await one.rpc.sent.get()
    await one.stream.close()
    assert isinstance(await failure_of(calling), ConnectionClosed)

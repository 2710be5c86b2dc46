"""The client's end of one Attach stream."""

import asyncio
import itertools
from functools import partial
from typing import Any, Final, NamedTuple

import grpc.aio

from towline import limits
from towline.api.stream_pb2 import AttachRequest, AttachResponse, Reply
from towline.client.transport.api import ConnectionClosed, RpcError
from towline.client.transport.errors import from_grpc, timed_out
from towline.clock import Clock
from towline.frames import FrameQueue
from towline.rpc import Method
from towline.status import Status

END_OF_STREAM: Final = grpc.aio.EOF  # type: ignore[attr-defined]  # missing in the stubs
# Trying again will not help against these; any other end of the stream is UNAVAILABLE to the calls on it.
_PERMANENT: Final = (Status.UNAUTHENTICATED, Status.PERMISSION_DENIED)


class NoAttach(Exception):
    """The server does not know Attach, and so began none of the stream's calls."""


class Outgoing(NamedTuple):
    """What becomes a Call."""

    id: int
    method: str
    request: bytes
    timeout_ms: int = 0
    cancel: bool = False

    def size_bytes(self) -> int:
        """How much data it carries."""
        return len(self.request)


class AttachStream:
    """Calls in flight on one stream; each costs one future. Once the stream has `ended`, another must be opened.

    A call whose turn to be written has not come yet, because the server reads slowly, is forgotten with its caller:
    what waits here is never more than what callers wait for.
    """

    def __init__(self, rpc: Any, *, target: str, clock: Clock) -> None:
        self._rpc = rpc
        self._target = target
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._calls: FrameQueue[Outgoing] = FrameQueue(Outgoing.size_bytes)
        self._answered = False
        self.ended = False
        self._writing = self._loop.create_task(self._write())
        self._reading = self._loop.create_task(self._read())

    @property
    def is_full(self) -> bool:
        """Whether the server would make a further call wait for one of these to be answered."""
        return len(self._waiting) >= limits.ATTACH_CALLS

    async def call(self, method: Method, request: bytes, *, timeout_ms: int | None) -> bytes:
        """The encoded response. Raises RpcError; NoAttach."""
        call_id = next(self._ids)
        answer: asyncio.Future[bytes] = self._loop.create_future()
        self._waiting[call_id] = answer
        self._calls.put(call_id, Outgoing(call_id, method.name, request, timeout_ms or 0))
        if timeout_ms is None:
            timer = None
        else:
            timer = self._clock.call_later(timeout_ms, partial(self._time_out, call_id, method.name, timeout_ms))
        try:
            return await answer
        except asyncio.CancelledError:
            self._forget(call_id)
            raise
        finally:
            if timer is not None:
                timer.cancel()

    async def close(self) -> None:
        """End the stream; its calls raise ConnectionClosed."""
        self._end(ConnectionClosed())
        self._rpc.cancel()
        await asyncio.gather(self._reading, self._writing, return_exceptions=True)

    def _time_out(self, call_id: int, method: str, timeout_ms: int) -> None:
        if answer := self._forget(call_id):
            answer.set_exception(timed_out(method, timeout_ms))

    def _forget(self, call_id: int) -> "asyncio.Future[bytes] | None":
        """Tell the server that nobody waits for this call any more, if its answer is not here yet."""
        answer = self._waiting.pop(call_id, None)
        if answer is not None and not self.ended and not self._calls.drop(call_id):
            self._calls.put(call_id, Outgoing(call_id, "", b"", cancel=True))
        return answer

    async def _write(self) -> None:
        try:
            while (calls := await self._calls.take()) is not None:
                frame = AttachRequest()
                for id, method, request, timeout_ms, cancel in calls:
                    frame.calls.add(id=id, method=method, request=request, timeout_ms=timeout_ms, cancel=cancel)
                await self._rpc.write(frame.SerializeToString())
        except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
            # The stream broke; reading it gives the reason.
            return

    async def _read(self) -> None:
        error: Exception = RpcError(Status.UNAVAILABLE, f"{self._target}: the server ended the stream")
        try:
            while (frame := await self._rpc.read()) is not END_OF_STREAM:
                self._answered = True
                for reply in AttachResponse.FromString(frame).replies:
                    self._receive(reply)
        except grpc.aio.AioRpcError as reason:
            error = self._error(reason)
        finally:
            self._end(error)

    def _receive(self, reply: Reply) -> None:
        answer = self._waiting.pop(reply.id, None)
        if answer is None or answer.done():
            return
        if reply.code == Status.OK:
            answer.set_result(reply.response)
        else:
            answer.set_exception(RpcError(Status(reply.code), reply.message))

    def _error(self, reason: grpc.aio.AioRpcError) -> Exception:
        error = from_grpc(reason, self._target)
        if error.status is Status.UNIMPLEMENTED and not self._answered:
            return NoAttach()
        if error.status in _PERMANENT or error.status is Status.UNAVAILABLE:
            return error
        return RpcError(Status.UNAVAILABLE, f"{self._target}: the stream broke ({error})")

    def _end(self, error: Exception) -> None:
        self.ended = True
        self._calls.end()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(error)
        self._waiting.clear()

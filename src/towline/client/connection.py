"""A transport together with the event loop that it lives on."""

import asyncio
import threading
from collections.abc import Coroutine
from enum import Enum
from typing import Any, TypeVar

from google.protobuf.message import Message

from towline import limits
from towline.client.handover import Handover
from towline.client.io_thread import SHARED, IoThread
from towline.client.transport.api import ConnectionClosed, Transport
from towline.client.transport.attach import AttachTransport
from towline.client.transport.channel import open_channel, wait_until_connected
from towline.client.transport.local import LocalServices, LocalTransport
from towline.client.transport.unary import UnaryTransport
from towline.clock import Clock, SystemClock
from towline.ids import Ids, RandomIds
from towline.rpc import Method

T = TypeVar("T")


class Wire(Enum):
    """How calls travel."""

    # Many calls on one stream; falls back to UNARY where the server has no streams.
    ATTACH = "attach"
    # One gRPC call each.
    UNARY = "unary"


class Connection:
    """What clients and workers share. All I/O runs on `loop`; `call` and `run` may be used from any event loop.

    `loop` is the loop of an I/O thread (so that user code which blocks its own loop stops no heartbeat), or, in tests,
    simulations and embedded engines, the caller's own loop.
    """

    def __init__(
        self,
        transport: Transport,
        loop: asyncio.AbstractEventLoop,
        *,
        clock: Clock | None = None,
        ids: Ids | None = None,
        thread: IoThread | None = None,
    ) -> None:
        """`thread`, whose loop `loop` is, is held by the caller on behalf of the connection, which lets go of it."""
        self.transport = transport
        self.loop = loop
        self.clock = clock or SystemClock()
        self.ids = ids or RandomIds()
        self._thread = thread
        self._closed = threading.Lock()  # taken by the first `close`, and kept
        self._handover = Handover(loop)

    @classmethod
    async def connect(
        cls,
        target: str,
        *,
        wire: Wire = Wire.ATTACH,
        connect_timeout_ms: int = limits.CONNECT_TIMEOUT_MS,
        clock: Clock | None = None,
        ids: Ids | None = None,
    ) -> "Connection":
        """Connect to the server at `target` (host:port) from the I/O thread that all connections of a process share.

        Raises RpcError (UNAVAILABLE) if no server answers in time; with `connect_timeout_ms` 0 it is not waited for,
        and the first call connects.
        """
        loop = SHARED.acquire()
        try:
            opening = _open(target, wire, connect_timeout_ms, clock or SystemClock())
            transport = await Handover(loop).run(opening)
        except BaseException:
            SHARED.release()
            raise
        return cls(transport, loop, clock=clock, ids=ids, thread=SHARED)

    @classmethod
    async def on_this_loop(
        cls,
        target: str,
        *,
        wire: Wire = Wire.ATTACH,
        connect_timeout_ms: int = limits.CONNECT_TIMEOUT_MS,
        clock: Clock | None = None,
        ids: Ids | None = None,
    ) -> "Connection":
        """As `connect`, with all I/O on the running loop: for tests, and for processes that serve on it too."""
        transport = await _open(target, wire, connect_timeout_ms, clock or SystemClock())
        return cls(transport, asyncio.get_running_loop(), clock=clock, ids=ids)

    @classmethod
    def local(cls, services: LocalServices, *, clock: Clock | None = None, ids: Ids | None = None) -> "Connection":
        """No wire at all: services on the running loop. Closing the connection leaves them alone."""
        return cls(LocalTransport(services, clock=clock), asyncio.get_running_loop(), clock=clock, ids=ids)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on `loop` and wait for it. Cancelling the wait cancels the coroutine.

        Raises ConnectionClosed; RuntimeError if somebody else closed `loop`.
        """
        try:
            self.hold()
        except BaseException:
            work.close()
            raise
        try:
            if asyncio.get_running_loop() is self.loop:
                return await work
            return await self._handover.run(work)
        finally:
            self.let_go()

    async def call(self, method: Method, request: Message, *, timeout_ms: int | None = None) -> Any:
        """As `Transport.call`, from any loop."""
        return await self.run(self.transport.call(method, request, timeout_ms=timeout_ms))

    def hold(self) -> None:
        """Have `loop` run until `let_go`, even if the connection is closed meanwhile: calls then fail, timers go on.

        From any thread. Raises ConnectionClosed.
        """
        if self._closed.locked():
            raise ConnectionClosed
        if self._thread is not None and self._thread.acquire() is not self.loop:
            self._thread.release()  # closed just now, and the thread has begun anew for somebody else
            raise ConnectionClosed

    def let_go(self) -> None:
        """Once per `hold`."""
        if self._thread is not None:
            self._thread.release()

    async def close(self) -> None:
        """Close the transport, and let go of the I/O thread, which ends when nobody holds it any more.

        Calls that run, and later ones, raise ConnectionClosed; a worker that runs drains and raises it too. May be
        called twice, from any loop.
        """
        if not self._closed.acquire(blocking=False):
            return
        try:
            if asyncio.get_running_loop() is self.loop:
                await self.transport.close()
            else:
                await self._handover.run(self.transport.close())
        finally:
            self.let_go()


async def _open(target: str, wire: Wire, connect_timeout_ms: int, clock: Clock) -> Transport:
    channel = open_channel(target)
    if connect_timeout_ms > 0:
        try:
            await wait_until_connected(channel, target, timeout_ms=connect_timeout_ms, clock=clock)
        except BaseException:
            await channel.close(None)
            raise
    match wire:
        case Wire.ATTACH:
            return AttachTransport(channel, target, clock=clock)
        case Wire.UNARY:
            return UnaryTransport(channel, target)

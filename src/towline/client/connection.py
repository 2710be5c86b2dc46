"""A transport together with the event loop that it lives on."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from google.protobuf.message import Message

from towline.client.transport.api import Transport
from towline.clock import Clock, SystemClock
from towline.ids import Ids, RandomIds
from towline.rpc import Method

T = TypeVar("T")


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
        on_close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.transport = transport
        self.loop = loop
        self.clock = clock or SystemClock()
        self.ids = ids or RandomIds()
        self._on_close = on_close

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on `loop` and wait for it. Cancelling the wait cancels the coroutine."""
        if asyncio.get_running_loop() is self.loop:
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.loop))

    async def call(self, method: Method, request: Message, *, timeout_ms: int | None = None) -> Any:
        """As `Transport.call`, from any loop."""
        return await self.run(self.transport.call(method, request, timeout_ms=timeout_ms))

    async def close(self) -> None:
        """Close the transport, and the I/O thread if this connection owns it."""
        await self.run(self.transport.close())
        if self._on_close is not None:
            await self._on_close()

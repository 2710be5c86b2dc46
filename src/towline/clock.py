"""Time, as an argument. Every shell (server, worker, client) gets a `Clock`; `core` gets plain `now_ms` numbers."""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol


class Cancellable(Protocol):
    """What `Clock.call_later` gives back."""

    def cancel(self) -> None:
        """The callback will not be called. Does nothing once it was."""


class Clock(Protocol):
    """Wall time and delays. All in milliseconds."""

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC. May jump, as wall clocks do."""

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> Cancellable:
        """Call back on the running event loop after the delay, which no clock jump changes."""

    async def sleep(self, delay_ms: int) -> None:
        """Come back after the delay."""


class SystemClock:
    """The machine's clock, on the running asyncio loop."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> Cancellable:
        return asyncio.get_running_loop().call_later(delay_ms / 1000, callback)

    async def sleep(self, delay_ms: int) -> None:
        await asyncio.sleep(delay_ms / 1000)

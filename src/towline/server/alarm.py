"""Waiting for something, but not for ever."""

import asyncio
from types import TracebackType
from typing import Any, Self

from towline.clock import Clock


class Alarm:
    """After its time it gives None to the future that is awaited then. Leaving its context cancels it."""

    def __init__(self, clock: Clock, timeout_ms: int) -> None:
        self.rang = False
        self._awaited: asyncio.Future[Any] | None = None
        self._timer = clock.call_later(max(timeout_ms, 0), self._ring)

    async def first(self, future: "asyncio.Future[Any]") -> Any:
        """What the future gets, or None when the time is over."""
        if self.rang and not future.done():
            return None
        self._awaited = future
        try:
            return await future
        finally:
            self._awaited = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()

    def _ring(self) -> None:
        self.rang = True
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_result(None)

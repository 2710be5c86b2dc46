"""What all duties share: a loop that outlives every fault of the store."""

import asyncio
from abc import ABC, abstractmethod

import structlog

from towline.clock import Clock
from towline.store.api import StoreError

log = structlog.get_logger(__name__)

_RETRY_MS = 1_000


class Duty(ABC):
    """One background loop. `turn` does what is to do now and says when to be called next."""

    def __init__(self, *, clock: Clock) -> None:
        self.clock = clock
        self.wake = asyncio.Event()  # set: take a turn now

    @abstractmethod
    async def turn(self) -> int:
        """Do what is to do; returns the milliseconds until the next turn, unless `wake` is set before."""

    async def run(self) -> None:
        """Take turns until cancelled."""
        while True:
            self.wake.clear()
            try:
                delay_ms = await self.turn()
            except StoreError as error:
                log.warning("duty waits for the store", duty=type(self).__name__, error=str(error))
                delay_ms = _RETRY_MS
            except Exception:
                log.exception("duty failed, it goes on", duty=type(self).__name__)
                delay_ms = _RETRY_MS
            await self._pause(delay_ms)

    async def _pause(self, delay_ms: int) -> None:
        timer = self.clock.call_later(max(delay_ms, 0), self.wake.set)
        try:
            await self.wake.wait()
        finally:
            timer.cancel()

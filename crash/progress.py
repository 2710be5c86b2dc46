"""How far the work is: what the kills go by, and what the kills hold up."""

import asyncio
from collections.abc import Callable


class Progress:
    """Counts of workflows. Everybody who waits looks again after each change."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.started = 0
        self.closed = 0
        self._allowed = total
        self._changed = asyncio.Condition()

    @property
    def open(self) -> int:
        """How many run now, or are just being started."""
        return self.started - self.closed

    async def wait_for(self, predicate: Callable[[], bool]) -> None:
        """Come back once it is true."""
        async with self._changed:
            await self._changed.wait_for(predicate)

    async def start_one(self) -> None:
        """Wait until another workflow may be started, and count it. One may be whenever none is open."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.started < self._allowed or self.open == 0)
            self.started += 1
            self._changed.notify_all()

    async def close_one(self) -> None:
        """A workflow has closed."""
        async with self._changed:
            self.closed += 1
            self._changed.notify_all()

    async def allow(self, started: int) -> None:
        """Let the work go on until so many are started: the kill that is due then must not come too late."""
        async with self._changed:
            self._allowed = started
            self._changed.notify_all()

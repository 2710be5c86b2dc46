"""Room for tasks. A poller takes a slot first and polls then: a task that is leased can start."""

import asyncio


class Slots:
    """`count` slots, for one kind of task. Lives on one event loop."""

    def __init__(self, count: int) -> None:
        if count < 1:
            raise ValueError(f"a worker with {count} slots could run nothing: give it at least 1")
        self._free = asyncio.Semaphore(count)

    async def take(self) -> None:
        """Take a slot, waiting for one in the order of asking. Whoever is cancelled while waiting takes none."""
        await self._free.acquire()

    def give_back(self) -> None:
        """A slot is free again."""
        self._free.release()

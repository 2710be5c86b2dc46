"""Who is killed, and when."""

import asyncio
import random
from collections.abc import Callable
from typing import Final

from crash.part import Part

_TOGETHER: Final = 0.2  # share of the kills that take the server and a worker at once
_SERVER: Final = 0.4  # share of the others that take the server
_WHILE_STARTING: Final = 0.25  # share of the kills that hit a part which was just started
_LONGEST_WAIT_S: Final = 0.5


class Killer:
    """Kills parts and starts them again, `kills` times: one each time that its share of the work is done."""

    def __init__(self, server: Part, workers: list[Part], *, kills: int, randomness: random.Random) -> None:
        self.done = 0
        self._server = server
        self._workers = workers
        self._kills = kills
        self._random = randomness

    async def run(self, progress: Callable[[], float], moved: asyncio.Condition) -> None:
        """Kill until it was done often enough. `progress` is the share of the work that is done, 0 to 1."""
        while self.done < self._kills:
            async with moved:
                await moved.wait_for(lambda: progress() >= self.done / (self._kills + 1))
            await asyncio.sleep(self._random.random() * _LONGEST_WAIT_S)
            await self._strike()

    async def _strike(self) -> None:
        victims = self._choose()
        self.done += sum(await asyncio.gather(*(victim.kill() for victim in victims)))
        for victim in victims:
            await victim.start()
        if self.done < self._kills and self._random.random() < _WHILE_STARTING:
            victim = self._random.choice(victims)
            await asyncio.sleep(self._random.random() * _LONGEST_WAIT_S)
            self.done += await victim.kill()
            await victim.start()

    def _choose(self) -> list[Part]:
        worker = self._random.choice(self._workers)
        if self._kills - self.done >= 2 and self._random.random() < _TOGETHER:
            return [self._server, worker]
        return [self._server] if self._random.random() < _SERVER else [worker]

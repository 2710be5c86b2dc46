"""Carries out the plan: kills, starts again, counts."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from crash.part import Part
from crash.plan import SERVER, Strike
from crash.progress import Progress
from towline.clock import Clock

_LOOK_INTERVAL_MS: Final = 10


@dataclass(slots=True)
class Kills:
    """Kills that were done: of a process that lived, while workflows were open."""

    total: int = 0
    of_server: int = 0
    at_once: int = 0  # with another process, at the same instant
    starting: int = 0  # before the process was up


class Killer:
    """Kills parts and starts them again at once. `parts` are in the order of their numbers: the server, the workers."""

    def __init__(
        self, parts: Sequence[Part], plan: Sequence[Strike], *, progress: Progress, at_once: int, clock: Clock
    ) -> None:
        self.kills = Kills()
        self._parts = parts
        self._plan = plan
        self._progress = progress
        self._at_once = at_once
        self._clock = clock

    async def run(self) -> None:
        """Do all that is planned, each strike when the work has come as far as it says.

        The work is held up meanwhile, if need be: it gets no further ahead of the next strike than `at_once` workflows.
        """
        for strike in self._plan:
            await self._progress.allow(strike.after + self._at_once)
            await self._progress.wait_for(lambda strike=strike: self._progress.closed >= strike.after)  # type: ignore[misc]
            await self._clock.sleep(int(strike.delay_s * 1000))
            if not await self._strike(strike):
                return
        await self._progress.allow(self._progress.total)

    async def _strike(self, strike: Strike) -> bool:
        """False: nothing is open any more, and kills would prove nothing."""
        victims = [self._parts[number] for number in strike.victims]
        if not await self._kill(victims):
            return False
        if strike.again_at is None:
            return True
        victim = victims[0]
        await self._clock.sleep(int(victim.start_up_ms * strike.again_at))
        return await self._kill([victim])

    async def _kill(self, victims: Sequence[Part]) -> bool:
        """Kill all of them at the same instant, and start them again at once."""
        progress = self._progress
        await progress.wait_for(lambda: progress.open > 0 or progress.closed == progress.total)
        if progress.open == 0:
            return False
        were_ready = [victim.ready() for victim in victims]
        await asyncio.gather(*(self._until_killed(victim) for victim in victims))
        await asyncio.gather(*(victim.start() for victim in victims))
        self.kills.total += len(victims)
        self.kills.of_server += victims.count(self._parts[SERVER])
        self.kills.at_once += len(victims) if len(victims) > 1 else 0
        self.kills.starting += were_ready.count(False)
        return True

    async def _until_killed(self, victim: Part) -> None:
        """A part that has just given up by itself comes back by itself: a kill is one only if it lived."""
        while not await victim.kill():
            await self._clock.sleep(_LOOK_INTERVAL_MS)

"""Working off an agenda: what leases, delays and timers have in common."""

import asyncio
from abc import abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

import structlog

from towline.clock import Clock
from towline.core.refusal import Refused
from towline.server.agenda import Agenda
from towline.server.duties.base import Duty
from towline.server.settings import Settings

log = structlog.get_logger(__name__)

T = TypeVar("T")

# Enough to fill a group commit, few enough to leave room for the callers' requests.
_AT_ONCE = 100


class DueDuty(Duty, Generic[T]):
    """Reads ahead what falls due within the horizon, and acts on each entry when its time has come.

    Entries that another server set are read ahead as well; acting twice is harmless, as history decides (law 1).
    """

    def __init__(self, agenda: Agenda[T], *, clock: Clock, settings: Settings) -> None:
        super().__init__(clock=clock)
        self._agenda = agenda
        self.wake = agenda.changed
        self._horizon_ms = settings.agenda_horizon_ms
        self._limit = settings.agenda_entries // 2

    @abstractmethod
    async def read(self, after_ms: int, until_ms: int, limit: int) -> Sequence[T]:
        """Entries of the store that fall due by `until_ms`, the earliest first; those due by `after_ms` were read."""

    @abstractmethod
    def entry(self, item: T) -> tuple[str, int]:
        """Its key and when it falls due."""

    @abstractmethod
    async def act(self, item: T) -> None:
        """It is due. May raise Refused: history has no use for it any more."""

    async def turn(self) -> int:
        now_ms = self.clock.now_ms()
        if self._agenda.until_ms <= now_ms + self._horizon_ms // 2 and len(self._agenda) <= self._limit // 2:
            await self._read_ahead(now_ms + self._horizon_ms)
        items = self._agenda.take_due(self.clock.now_ms(), _AT_ONCE)
        if items:
            await asyncio.gather(*[self._act(item) for item in items])
            return 0
        due_ms = self._agenda.next_due_ms()
        pause_ms = self._horizon_ms // 4
        return pause_ms if due_ms is None else min(due_ms - self.clock.now_ms(), pause_ms)

    async def _read_ahead(self, until_ms: int) -> None:
        # Moved before the read: what is set while it runs must not fall between the two.
        self._agenda.until_ms, before = until_ms, self._agenda.until_ms
        try:
            items = await self.read(before, until_ms, self._limit)
        except BaseException:
            self._agenda.until_ms = before
            raise
        entries = [(*self.entry(item), item) for item in items]
        self._agenda.extend(until_ms, entries)
        if len(items) == self._limit:
            self._agenda.until_ms = entries[-1][1]

    async def _act(self, item: T) -> None:
        try:
            await self.act(item)
        except Refused as refused:
            log.debug("due entry was over already", entry=self.entry(item)[0], reason=refused.message)
        except Exception:
            key, _ = self.entry(item)
            self._agenda.add(key, self.clock.now_ms() + 1_000, item)
            raise

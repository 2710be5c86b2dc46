"""What falls due: as much as fits in memory, the rest stays in the store until its time comes near (law 8)."""

import asyncio
import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from towline.core.task import TaskRow, TimerRow

T = TypeVar("T")


class Agenda(Generic[T]):
    """Entries by the time they fall due. Complete up to `until_ms`; what is due later is not held here.

    An entry is a hint: whoever acts on it asks history whether it is still so.
    """

    def __init__(self, *, limit: int) -> None:
        self.until_ms = 0
        self._limit = limit
        self.changed = asyncio.Event()
        self._heap: list[tuple[int, str]] = []
        self._entries: dict[str, tuple[int, T]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, key: str, due_ms: int, item: T) -> None:
        """Enter it, or move it if it is entered already."""
        if due_ms > self.until_ms:
            self.discard(key)
            return
        first = self.next_due_ms()
        self._entries[key] = (due_ms, item)
        heapq.heappush(self._heap, (due_ms, key))
        if first is None or due_ms < first:
            self.changed.set()
        if len(self._entries) > self._limit:
            self._shrink()

    def discard(self, key: str) -> None:
        """It will not fall due any more."""
        self._entries.pop(key, None)

    def extend(self, until_ms: int, entries: Iterable[tuple[str, int, T]]) -> None:
        """Take in (key, due_ms, item) read from the store, which with what is here is all there is up to `until_ms`."""
        self.until_ms = max(self.until_ms, until_ms)
        for key, due_ms, item in entries:
            if key not in self._entries:
                self.add(key, due_ms, item)

    def next_due_ms(self) -> int | None:
        """When the first entry falls due; None: there is none here."""
        while self._heap:
            due_ms, key = self._heap[0]
            entry = self._entries.get(key)
            if entry is not None and entry[0] == due_ms:
                return due_ms
            heapq.heappop(self._heap)
        return None

    def _shrink(self) -> None:
        """Too many: hold the earlier half only; the rest is read again when its time comes near."""
        by_time = sorted((due_ms, key) for key, (due_ms, _) in self._entries.items())
        kept = by_time[: self._limit // 2]
        self.until_ms = kept[-1][0] - 1
        self._heap = [(due_ms, key) for due_ms, key in kept if due_ms <= self.until_ms]
        self._entries = {key: self._entries[key] for _, key in self._heap}
        self.changed.set()

    def take_due(self, now_ms: int, limit: int) -> list[T]:
        """Take out what is due, the oldest first."""
        items: list[T] = []
        while len(items) < limit and (due_ms := self.next_due_ms()) is not None and due_ms <= now_ms:
            _, key = heapq.heappop(self._heap)
            items.append(self._entries.pop(key)[1])
        return items


@dataclass(frozen=True, slots=True)
class Agendas:
    """One of each kind; `server/duties` work them off."""

    leases: Agenda[TaskRow]  # leased tasks, by the end of their lease
    delays: Agenda[TaskRow]  # tasks that are not visible yet, by the time they become so
    timers: Agenda[TimerRow]

    @classmethod
    def empty(cls, *, limit: int) -> "Agendas":
        """Nothing is due yet."""
        return cls(Agenda(limit=limit), Agenda(limit=limit), Agenda(limit=limit))

    def tasks_changed(self, rows: Iterable[TaskRow], now_ms: int) -> None:
        """Tasks as they are in the store now."""
        for row in rows:
            if row.leased():
                self.delays.discard(row.task_id)
                self.leases.add(row.task_id, row.lease_expires_at_ms, row)
            else:
                self.leases.discard(row.task_id)
                if row.visible_at_ms > now_ms:
                    self.delays.add(row.task_id, row.visible_at_ms, row)

    def tasks_gone(self, rows: Iterable[TaskRow]) -> None:
        """Tasks that are no longer in the store."""
        for row in rows:
            self.leases.discard(row.task_id)
            self.delays.discard(row.task_id)

    def timers_changed(self, timers: Iterable[tuple[tuple[str, str], TimerRow | None]]) -> None:
        """Timers that were set, or (None) cleared."""
        for (run_id, timer_id), row in timers:
            key = f"{run_id}/{timer_id}"
            if row is None:
                self.timers.discard(key)
            else:
                self.timers.add(key, row.fire_at_ms, row)

"""Timers that are due."""

from collections.abc import Sequence

from towline.clock import Clock
from towline.core.request import TimerFired
from towline.core.task import TimerRow
from towline.server.agenda import Agendas
from towline.server.duties.due import DueDuty
from towline.server.engine import Engine
from towline.server.settings import Settings
from towline.store.api import Store


class Timers(DueDuty[TimerRow]):
    """Tells runs that the time came they asked to be told of."""

    def __init__(self, engine: Engine, store: Store, *, agendas: Agendas, clock: Clock, settings: Settings) -> None:
        super().__init__(agendas.timers, clock=clock, settings=settings)
        self._engine = engine
        self._store = store

    async def read(self, after_ms: int, until_ms: int, limit: int) -> Sequence[TimerRow]:
        return await self._store.due_timers(until_ms, limit)

    def entry(self, item: TimerRow) -> tuple[str, int]:
        return f"{item.run_id}/{item.timer_id}", item.fire_at_ms

    async def act(self, item: TimerRow) -> None:
        await self._engine.ask(item.run_id, TimerFired(item.timer_id))

"""Leases that ran out: their worker died, or hangs."""

from collections.abc import Sequence

from towline.clock import Clock
from towline.core.request import LeaseExpired
from towline.core.task import TaskRow
from towline.server.agenda import Agendas
from towline.server.duties.due import DueDuty
from towline.server.engine import Engine
from towline.server.settings import Settings
from towline.store.api import Store


class Leases(DueDuty[TaskRow]):
    """Takes tasks away from those who did not report in time."""

    def __init__(self, engine: Engine, store: Store, *, agendas: Agendas, clock: Clock, settings: Settings) -> None:
        super().__init__(agendas.leases, clock=clock, settings=settings)
        self._engine = engine
        self._store = store

    async def read(self, after_ms: int, until_ms: int, limit: int) -> Sequence[TaskRow]:
        return await self._store.expiring_tasks(until_ms, limit)

    def entry(self, item: TaskRow) -> tuple[str, int]:
        return item.task_id, item.lease_expires_at_ms

    async def act(self, item: TaskRow) -> None:
        await self._engine.ask(item.run_id, LeaseExpired(item.task_id, item.lease_token))

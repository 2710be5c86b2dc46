"""Closed runs whose time is over."""

from towline.clock import Clock
from towline.server.duties.base import Duty
from towline.server.engine import Engine
from towline.server.settings import Settings
from towline.store.api import Store

_AT_ONCE = 500


class Retention(Duty):
    """Deletes closed runs, with all that belongs to them, after the retention time."""

    def __init__(self, engine: Engine, store: Store, *, clock: Clock, settings: Settings) -> None:
        super().__init__(clock=clock)
        self._engine = engine
        self._store = store
        self._retention_ms = settings.retention_ms
        self._interval_ms = settings.retention_interval_ms

    async def turn(self) -> int:
        rows = await self._store.closed_runs(self.clock.now_ms() - self._retention_ms, _AT_ONCE)
        if not rows:
            return self._interval_ms
        await self._store.delete_runs([row.run_id for row in rows])
        for row in rows:
            self._engine.runs.drop(row.run_id)
        return 0 if len(rows) == _AT_ONCE else self._interval_ms

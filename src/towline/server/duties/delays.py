"""Tasks that were to wait, for a retry's back-off: their time has come."""

from collections.abc import Sequence

from towline.clock import Clock
from towline.core.task import TaskRow
from towline.server.agenda import Agendas
from towline.server.duties.due import DueDuty
from towline.server.matching import Matching
from towline.server.settings import Settings
from towline.store.api import Store


class Delays(DueDuty[TaskRow]):
    """Offers tasks to the pollers when they become visible."""

    def __init__(self, matching: Matching, store: Store, *, agendas: Agendas, clock: Clock, settings: Settings) -> None:
        super().__init__(agendas.delays, clock=clock, settings=settings)
        self._matching = matching
        self._store = store

    async def read(self, after_ms: int, until_ms: int, limit: int) -> Sequence[TaskRow]:
        # At the start of the server, tasks that are visible already are found by the first polls.
        return await self._store.delayed_tasks(after_ms or self.clock.now_ms() - 1, until_ms, limit)

    def entry(self, item: TaskRow) -> tuple[str, int]:
        return item.task_id, item.visible_at_ms

    async def act(self, item: TaskRow) -> None:
        self._matching.look(item.namespace, item.queue)

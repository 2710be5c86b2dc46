"""One kind of task in a worker: its room, and what is under way."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from towline.rpc import Method
from towline.worker.link import Link
from towline.worker.slots import Slots


class Lane:
    """Workflow tasks or activities. `run` takes one answer of `poll_method` and carries it out."""

    def __init__(self, poll_method: Method, run: Callable[[Any], Awaitable[None]], *, slots: Slots, link: Link) -> None:
        self.poll_method = poll_method
        self.slots = slots
        self.under_way: set[asyncio.Task[None]] = set()
        self._run = run
        self._link = link

    def start(self, task: Any) -> None:
        """Carry the task out, in a slot that was taken for it; the slot is free when all is done and reported."""
        work = asyncio.get_running_loop().create_task(self._carry_out(task))
        self.under_way.add(work)
        work.add_done_callback(self.under_way.discard)
        work.add_done_callback(lambda _: self.slots.give_back())

    async def _carry_out(self, task: Any) -> None:
        try:
            await self._run(task)
        except Exception:
            # A fault of the worker itself. The task's lease runs out and the server hands the task out again.
            self._link.logger.exception("task lost by a fault of the worker", method=self.poll_method.name)

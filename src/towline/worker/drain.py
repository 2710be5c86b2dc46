"""How a worker stops: gently, and in the end whatever happens."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from datetime import timedelta
from typing import Any, Final

from towline.activity import ActivityCancelled, WorkerShutdown
from towline.api.task_service_pb2 import ShutdownWorkerRequest
from towline.client.transport.api import RpcError
from towline.clock import Cancellable
from towline.rpc import TASK_METHODS
from towline.worker.lane import Lane
from towline.worker.link import Link
from towline.worker.poller import Poller

# What cancelled activities get to clean up and report.
_GRACE_MS: Final = 3_000
_TELL_SERVER_TIMEOUT_MS: Final = 5_000


class Drain:
    """The stages of a worker's end, in this order. Lives on the I/O loop.

    stage        begins with                            what happens in it
    draining     the first `request`                    no poll is begun, tasks that still come are handed back,
                                                        what is under way goes on and reports
    cancelling   the second, or after `timeout`         activities are cancelled with WorkerShutdown; they report
    abandoning   the third, or 3 s after that           nothing is awaited any more: leases run out by themselves
    """

    def __init__(
        self, link: Link, *, timeout: timedelta, cancel_activities: Callable[[ActivityCancelled], None]
    ) -> None:
        self.draining = asyncio.Event()
        self._cancelling = asyncio.Event()
        self._abandoning = asyncio.Event()
        self._link = link
        self._timeout_ms = timeout // timedelta(milliseconds=1)
        self._cancel_activities = cancel_activities
        self._timers: list[Cancellable] = []
        self._why_cancelled = "the worker stops, and its drain time-out is over"

    def request(self) -> None:
        """Go on to the next stage."""
        for stage in (self.draining, self._cancelling, self._abandoning):
            if not stage.is_set():
                stage.set()
                if stage is self._cancelling:
                    self._why_cancelled = "the worker was told twice to stop, so it does not wait for its activities"
                return

    async def run(
        self, pollers: Sequence[Poller], polling: Sequence["asyncio.Task[None]"], lanes: Sequence[Lane]
    ) -> None:
        """Stop the pollers, which run as `polling`, then let the lanes finish. Comes back when all is over."""
        self.draining.set()
        self._set_after(self._timeout_ms, self._cancelling)
        cancelling = asyncio.ensure_future(self._cancel_when_due())
        try:
            await self._stop_polling(pollers, polling)
            await self._finish_work([work for lane in lanes for work in lane.under_way])
        finally:
            cancelling.cancel()
            for timer in self._timers:
                timer.cancel()

    async def _cancel_when_due(self) -> None:
        await self._cancelling.wait()
        self._cancel_activities(WorkerShutdown(self._why_cancelled))
        self._set_after(_GRACE_MS, self._abandoning)

    async def _stop_polling(self, pollers: Sequence[Poller], polling: Sequence["asyncio.Task[None]"]) -> None:
        for poller in pollers:
            poller.stop()
        telling = asyncio.ensure_future(self._tell_server())
        if await _all_done([telling], or_at=self._abandoning) and telling.result():
            await _all_done(polling, or_at=self._abandoning)
        await _end([telling, *polling])

    async def _tell_server(self) -> bool:
        """Have the server answer the polls that are out. False: it did not hear, so they must be cancelled."""
        request = ShutdownWorkerRequest(
            namespace=self._link.namespace, worker_instance_key=self._link.worker_instance_key
        )
        try:
            await self._link.transport.call(TASK_METHODS["ShutdownWorker"], request, timeout_ms=_TELL_SERVER_TIMEOUT_MS)
        except RpcError as error:
            self._link.logger.warning("the server was not told that this worker stops", reason=str(error))
            return False
        return True

    async def _finish_work(self, works: Collection["asyncio.Task[None]"]) -> None:
        if await _all_done(works, or_at=self._abandoning):
            return
        left = [work for work in works if not work.done()]
        self._link.logger.warning(
            "tasks abandoned: the server runs them again when their leases are over", tasks=len(left)
        )
        await _end(left)

    def _set_after(self, delay_ms: int, stage: asyncio.Event) -> None:
        if delay_ms <= 0:
            stage.set()
        else:
            self._timers.append(self._link.clock.call_later(delay_ms, stage.set))


async def _all_done(works: Collection["asyncio.Future[Any]"], *, or_at: asyncio.Event) -> bool:
    """Wait until all of it is done, or the event comes; whether it is done."""
    left = {work for work in works if not work.done()}
    if left and not or_at.is_set():
        event = asyncio.ensure_future(or_at.wait())
        finished = asyncio.ensure_future(asyncio.wait(left))
        try:
            await asyncio.wait({event, finished}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            event.cancel()
            finished.cancel()
    return all(work.done() for work in left)


async def _end(works: Collection["asyncio.Future[Any]"]) -> None:
    for work in works:
        work.cancel()
    await asyncio.gather(*works, return_exceptions=True)

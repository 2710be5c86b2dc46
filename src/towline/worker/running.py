"""A worker that runs: its parts, put together on the I/O loop."""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context
from dataclasses import dataclass
from typing import Any

from towline.activity import ActivityCancelled
from towline.client.handover import Inbox
from towline.convert import DataConverter
from towline.rpc import TASK_METHODS
from towline.runtime import WorkflowHandler
from towline.worker.activities import Activities
from towline.worker.drain import Drain
from towline.worker.lane import Lane
from towline.worker.link import Link
from towline.worker.options import WorkerOptions
from towline.worker.outage import Outage
from towline.worker.poller import Poller
from towline.worker.registry import ActivityRegistry
from towline.worker.reports import Reports
from towline.worker.slots import Slots
from towline.worker.threads import Threads
from towline.worker.user_code import Failpoint, UserCode
from towline.worker.workflow_code import Inline, InThread, WorkflowCode
from towline.worker.workflow_tasks import WorkflowTasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipment:
    """What a worker is made of, before it runs."""

    registry: ActivityRegistry
    workflow_handler: WorkflowHandler | None
    converter: DataConverter
    options: WorkerOptions
    failpoint: Failpoint | None


class RunningWorker:
    """One run of a worker. Everything but the constructor and `request_stop` belongs to the I/O loop."""

    def __init__(self, link: Link, equipment: Equipment, *, io_loop: asyncio.AbstractEventLoop) -> None:
        self._link = link
        self._equipment = equipment
        self._io = Inbox(io_loop)
        self._reports = Reports(link)
        self._activity_threads = Threads("towline-activity", maximum=equipment.options.max_concurrent_activities)
        self._workflow_thread = Threads("towline-workflow", maximum=1)
        self._activities: Activities | None = None
        self._drain = Drain(link, timeout=equipment.options.drain_timeout, cancel_activities=self._cancel_activities)

    def request_stop(self) -> None:
        """Go on to the next stage of `Drain`. From any thread."""
        self._io.put(self._drain.request)

    async def run(self, user_loop: asyncio.AbstractEventLoop, context: Context) -> None:
        """Work until told to stop, then drain. Raises WorkerRefused or ConnectionClosed, after the drain."""
        lanes = [*self._workflow_lanes(), *self._activity_lanes(user_loop, context)]
        outage = Outage(self._link)
        pollers = [
            Poller(lane, self._link, self._reports, outage=outage) for lane, polls in lanes for _ in range(polls)
        ]
        polling: list[asyncio.Task[None]] = []
        try:
            if not self._drain.draining.is_set():
                polling = [poller.start() for poller in pollers]
            await self._until_stopped(polling)
            refused = next((task.exception() for task in polling if task.done() and not task.cancelled()), None)
            await self._drain.run(pollers, polling, [lane for lane, _ in lanes])
        finally:
            self._activity_threads.close()
            self._workflow_thread.close()
        if refused is not None:
            raise refused

    async def _until_stopped(self, polling: list["asyncio.Task[None]"]) -> None:
        """Come back when a stop is requested, or a poller ended: unasked it does that only if polling is of no use."""
        asked = asyncio.ensure_future(self._drain.draining.wait())
        try:
            await asyncio.wait({asked, *polling}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            asked.cancel()

    def _workflow_lanes(self) -> list[tuple[Lane, int]]:
        handler, options = self._equipment.workflow_handler, self._equipment.options
        if handler is None:
            return []
        tasks = WorkflowTasks(
            link=self._link,
            code=self._workflow_code(handler),
            reports=self._reports,
            failures=self._equipment.converter.failures,
            draining=self._drain.draining.is_set,
        )
        slots = Slots(options.max_concurrent_workflow_tasks)
        return [(self._lane("PollWorkflowTask", tasks.run, slots), options.max_concurrent_workflow_task_polls)]

    def _workflow_code(self, handler: WorkflowHandler) -> WorkflowCode:
        failures = self._equipment.converter.failures
        if self._equipment.options.run_workflows_inline:
            return Inline(handler, failures)
        return InThread(handler, failures, threads=self._workflow_thread, io=self._io)

    def _activity_lanes(self, user_loop: asyncio.AbstractEventLoop, context: Context) -> list[tuple[Lane, int]]:
        equipment, options = self._equipment, self._equipment.options
        if not equipment.registry:
            return []
        self._activities = Activities(
            link=self._link,
            io=self._io,
            registry=equipment.registry,
            user_code=UserCode(
                loop=user_loop,
                context=context,
                converter=equipment.converter,
                threads=self._activity_threads,
                failpoint=equipment.failpoint,
            ),
            reports=self._reports,
            converter=equipment.converter,
        )
        slots = Slots(options.max_concurrent_activities)
        lane = self._lane("PollActivityTask", self._activities.run, slots)
        return [(lane, options.max_concurrent_activity_task_polls)]

    def _lane(self, method: str, run: Callable[[Any], Awaitable[None]], slots: Slots) -> Lane:
        return Lane(TASK_METHODS[method], run, slots=slots, link=self._link)

    def _cancel_activities(self, cause: ActivityCancelled) -> None:
        if self._activities is not None:
            self._activities.cancel(cause)

"""A loop that brings tasks in."""

import asyncio
from typing import Any, Final

from towline import limits
from towline.api.task_service_pb2 import PollRequest, ReleaseTaskRequest
from towline.client.transport.api import ConnectionClosed, RpcError
from towline.rpc import TASK_METHODS
from towline.status import Status
from towline.worker.errors import WorkerRefused
from towline.worker.lane import Lane
from towline.worker.link import CALL_TIMEOUT_MS, Link
from towline.worker.outage import Outage
from towline.worker.reports import ReportRefused, Reports

# The server answers within the long poll's time, even if nothing came.
_POLL_TIMEOUT_MS: Final = limits.LONG_POLL_TIMEOUT_MS + CALL_TIMEOUT_MS

_PERMANENT: Final = frozenset(
    {
        Status.UNAUTHENTICATED,
        Status.PERMISSION_DENIED,
        Status.NOT_FOUND,
        Status.INVALID_ARGUMENT,
        Status.UNIMPLEMENTED,
    }
)


class Poller:
    """Takes a slot, polls, starts the task in it; again and again."""

    def __init__(self, lane: Lane, link: Link, reports: Reports, *, outage: Outage) -> None:
        self._lane = lane
        self._outage = outage
        self._link = link
        self._reports = reports
        self._stopping = False
        self._idle = False
        self._failures = 0
        self._pause_ms = 0  # before the next poll
        self._task: asyncio.Task[None] | None = None

    def start(self) -> asyncio.Task[None]:
        """Begin. The task ends after `stop`, or with WorkerRefused or ConnectionClosed."""
        self._task = asyncio.get_running_loop().create_task(self._poll_forever())
        return self._task

    def stop(self) -> None:
        """Poll no more. A poll that is out is awaited, as its answer may hold a task: that one is handed back."""
        self._stopping = True
        if self._idle and self._task is not None:
            self._task.cancel()

    async def _poll_forever(self) -> None:
        while not self._stopping:
            self._idle = True
            await self._lane.slots.take()
            self._idle = False
            started = False
            try:
                started = await self._poll_once()
            finally:
                if not started:
                    self._lane.slots.give_back()
            if self._pause_ms and not self._stopping:
                self._idle = True
                await self._link.clock.sleep(self._pause_ms)

    async def _poll_once(self) -> bool:
        """True: a task came and runs in the slot."""
        asked_at_ms = self._link.clock.now_ms()
        try:
            response = await self._poll()
        except ConnectionClosed:
            raise
        except RpcError:
            self._failures += 1
            self._pause_ms = self._link.delay_ms(self._failures)
            return False
        self._failures = 0
        self._pause_ms = 0
        if not response.task_token:
            # A server that goes down sends polls home at once: asking again right away would only keep it busy.
            shortest_ms = self._link.delay_ms(1)
            self._pause_ms = shortest_ms if self._link.clock.now_ms() - asked_at_ms < shortest_ms else 0
            return False
        if self._stopping:
            await self._release(response)
            return False
        self._lane.start(response)
        return True

    async def _poll(self) -> Any:
        """The answer. Raises RpcError if asking again may help; WorkerRefused or ConnectionClosed if not."""
        link, method = self._link, self._lane.poll_method
        request = PollRequest(
            namespace=link.namespace,
            task_queue=link.task_queue,
            identity=link.identity,
            worker_instance_key=link.worker_instance_key,
        )
        with self._outage.polling(method.name):
            try:
                return await link.transport.call(method, request, timeout_ms=_POLL_TIMEOUT_MS)
            except RpcError as error:
                if error.status not in _PERMANENT or isinstance(error, ConnectionClosed):
                    raise
                raise WorkerRefused(
                    namespace=link.namespace, task_queue=link.task_queue, status=error.status, message=error.message
                ) from error

    async def _release(self, response: Any) -> None:
        request = ReleaseTaskRequest(task_token=response.task_token)
        await release(request, self._reports, self._link)


async def release(request: ReleaseTaskRequest, reports: Reports, link: Link) -> None:
    """Hand a task back that came too late to be run here; the server delivers it again at once."""
    try:
        await reports.send(TASK_METHODS["ReleaseTask"], request, subject="a task that is handed back", deadline_ms=None)
    except ReportRefused as refused:
        link.logger.warning("task not handed back: it waits for its lease to run out", reason=str(refused))

"""Polls: a task at once, or the next one that comes."""

import asyncio

from google.protobuf.message import Message

from towline.api.task_service_pb2 import PollRequest
from towline.clock import Clock
from towline.server.alarm import Alarm
from towline.server.caller import Caller, waiting_time_ms
from towline.server.engine import Engine
from towline.server.lease import Lease
from towline.server.matching import Matching, Poller, TaskQueue
from towline.server.services.history import HistoryReader


class Polls:
    """Finds a task for each poll, and sees to it that a lease that does not reach its worker is given back."""

    def __init__(
        self, engine: Engine, matching: Matching, *, history: HistoryReader, clock: Clock, long_poll_timeout_ms: int
    ) -> None:
        self._engine = engine
        self._matching = matching
        self._history = history
        self._clock = clock
        self._long_poll_timeout_ms = long_poll_timeout_ms

    async def poll(self, request: PollRequest, queue_name: str, caller: Caller) -> Message | bytes | None:
        """The answer with a task, or None: nothing came."""
        with self._matching.polled(request.namespace, queue_name) as queue:
            lease = await self._next_lease(queue, request, caller)
        return None if lease is None else await self.hand_over(lease, caller)

    async def hand_over(self, lease: Lease, caller: Caller) -> Message | bytes:
        """The lease as an answer. If the caller goes away, or the history cannot be read, the lease is given back."""
        try:
            answer = await lease.answer(self._history.first_page)
        except BaseException:
            self._engine.give_back(lease.row)
            raise
        caller.on_gone(lambda: self._engine.give_back(lease.row))
        return answer

    async def _next_lease(self, queue: TaskQueue, request: PollRequest, caller: Caller) -> Lease | None:
        with Alarm(self._clock, waiting_time_ms(self._long_poll_timeout_ms, caller)) as alarm:
            while not alarm.rang and not self._matching.stopped(request.worker_instance_key):
                hint = await self._matching.next_task(queue)
                if hint is not None:
                    lease = await self._deliver(queue, hint.run_id, hint.task_id, request.identity)
                else:
                    # Nothing is awaited between the look at the queue and the wait: no offer falls in between.
                    lease = await self._wait(queue, request, alarm)
                if lease is not None:
                    return lease
        # It may have been woken for a task in the moment in which its time was over: the next in line takes that.
        queue.wake_one()
        return None

    async def _deliver(self, queue: TaskQueue, run_id: str, task_id: str, identity: str) -> Lease | None:
        try:
            return await self._engine.deliver(run_id, task_id, identity=identity)
        except BaseException:
            # The hint was taken out of the queue and came to nothing: whoever polls next finds the task in the store.
            self._matching.look(queue.namespace, queue.name)
            raise

    async def _wait(self, queue: TaskQueue, request: PollRequest, alarm: Alarm) -> Lease | None:
        answer: asyncio.Future[Lease | None] = asyncio.get_running_loop().create_future()
        poller = Poller(request.identity, request.worker_instance_key, answer)
        self._matching.wait(queue, poller)
        try:
            lease: Lease | None = await alarm.first(answer)
            return lease
        except asyncio.CancelledError:
            self._leave(queue, answer)
            raise
        finally:
            queue.leave(poller)

    def _leave(self, queue: TaskQueue, answer: "asyncio.Future[Lease | None]") -> None:
        """The caller is gone. What it was given in the same moment goes back, and a call to look goes to the next."""
        if answer.done() and not answer.cancelled():
            lease = answer.result()
            if lease is not None:
                self._engine.give_back(lease.row)
            else:
                queue.wake_one()

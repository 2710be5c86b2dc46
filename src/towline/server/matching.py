"""Tasks meet pollers. All of it is hints in memory: the store has the tasks, history has the truth (law 1)."""

import asyncio
import heapq
import itertools
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from towline.clock import Clock
from towline.core.task import TaskRow
from towline.server.lease import Lease
from towline.store.api import Store, TaskHint


@dataclass(eq=False, slots=True)
class Poller:
    """One poll that waits. `answer` becomes a Lease, or None: look again."""

    identity: str
    worker_instance_key: str
    answer: "asyncio.Future[Lease | None]"

    def give(self, lease: Lease | None) -> bool:
        """Answer the poll. False: it is gone."""
        if self.answer.done():
            return False
        self.answer.set_result(lease)
        return True


@dataclass(slots=True)
class TaskQueue:
    """One queue: either tasks wait for pollers, or pollers for tasks."""

    namespace: str
    name: str
    pollers: "OrderedDict[Poller, None]" = field(default_factory=OrderedDict)
    ready: list[tuple[int, int, TaskHint]] = field(default_factory=list)  # a heap of (priority, arrival, hint)
    known: set[str] = field(default_factory=set)  # ids of the tasks in `ready`
    more_in_store: bool = True  # tasks may wait in the store that are not in `ready`; so it is after a restart
    polls: int = 0  # polls under way, whether they wait or not

    def leave(self, poller: Poller) -> None:
        """The poll no longer waits."""
        self.pollers.pop(poller, None)

    def next_poller(self) -> Poller | None:
        """The poll that has waited longest, taken out."""
        while self.pollers:
            poller, _ = self.pollers.popitem(last=False)
            if not poller.answer.done():
                return poller
        return None

    def wake_one(self) -> None:
        """Tell the poll that has waited longest to look again."""
        poller = self.next_poller()
        if poller is not None:
            poller.give(None)


class Matching:
    """All queues of this process, and the workers that asked to be left alone."""

    def __init__(self, store: Store, *, clock: Clock, ready_limit: int) -> None:
        self._store = store
        self._clock = clock
        self._ready_limit = ready_limit
        self._arrival = itertools.count()
        self._queues: dict[tuple[str, str], TaskQueue] = {}
        self._stopped_workers: OrderedDict[str, None] = OrderedDict()
        self.closed = False

    @contextmanager
    def polled(self, namespace: str, name: str) -> Iterator[TaskQueue]:
        """The queue, for the time of one poll: made on first use, forgotten by `sweep` when nobody polls it."""
        queue = self._queues.get((namespace, name))
        if queue is None:
            queue = self._queues[namespace, name] = TaskQueue(namespace, name)
        queue.polls += 1
        try:
            yield queue
        finally:
            queue.polls -= 1

    def names(self) -> list[tuple[str, str]]:
        """The queues that are known, as (namespace, name)."""
        return sorted(self._queues)

    def sweep(self) -> None:
        """Have every queue that is polled look into the store again, and forget those that nobody polls."""
        for key, queue in list(self._queues.items()):
            if queue.polls == 0:
                del self._queues[key]
            else:
                queue.more_in_store = True
                queue.wake_one()

    def take_poller(self, namespace: str, name: str) -> Poller | None:
        """A poll that waits on this queue, reserved for the caller: answer it, or `put_back`."""
        queue = self._queues.get((namespace, name))
        return queue.next_poller() if queue else None

    def wait(self, queue: TaskQueue, poller: Poller) -> None:
        """Let a poll wait its turn; one that is to go home looks again at once, and finds that it is."""
        if self.stopped(poller.worker_instance_key):
            poller.give(None)
        else:
            queue.pollers[poller] = None

    def put_back(self, namespace: str, name: str, poller: Poller) -> None:
        """A reserved poll goes on waiting, at the head of the line."""
        queue = self._queues.get((namespace, name))
        if queue is not None and not poller.answer.done():
            self.wait(queue, poller)
            if poller in queue.pollers:
                queue.pollers.move_to_end(poller, last=False)

    def offer(self, row: TaskRow) -> None:
        """A task became ready and is in the store, where the first poll finds it if nobody polls its queue now."""
        queue = self._queues.get((row.namespace, row.queue))
        if queue is None or row.task_id in queue.known:
            return
        if queue.more_in_store or len(queue.ready) >= self._ready_limit:
            queue.more_in_store = True  # it is there too; older ones come first
        else:
            self._add(queue, hint_of(row))
        queue.wake_one()

    def look(self, namespace: str, name: str) -> None:
        """Tasks of this queue may wait in the store that nobody offered."""
        queue = self._queues.get((namespace, name))
        if queue is not None:
            queue.more_in_store = True
            queue.wake_one()

    async def next_task(self, queue: TaskQueue) -> TaskHint | None:
        """The next task of the queue, taken out; None: there is none."""
        while not queue.ready and queue.more_in_store:
            await self._load(queue)
        if not queue.ready:
            return None
        hint = heapq.heappop(queue.ready)[2]
        queue.known.discard(hint.task_id)
        return hint

    def stop_worker(self, worker_instance_key: str) -> None:
        """Send the polls of a worker home, now and later."""
        self._stopped_workers[worker_instance_key] = None
        if len(self._stopped_workers) > _STOPPED_WORKERS_KEPT:
            self._stopped_workers.popitem(last=False)
        for queue in self._queues.values():
            for poller in [p for p in queue.pollers if p.worker_instance_key == worker_instance_key]:
                queue.leave(poller)
                poller.give(None)

    def stopped(self, worker_instance_key: str) -> bool:
        """Polls of this worker get nothing any more."""
        return self.closed or (worker_instance_key != "" and worker_instance_key in self._stopped_workers)

    def close(self) -> None:
        """Send every poll home, now and later."""
        self.closed = True
        for queue in self._queues.values():
            for poller in list(queue.pollers):
                queue.leave(poller)
                poller.give(None)

    def _add(self, queue: TaskQueue, hint: TaskHint) -> None:
        queue.known.add(hint.task_id)
        heapq.heappush(queue.ready, (hint.priority, next(self._arrival), hint))

    async def _load(self, queue: TaskQueue) -> None:
        """Read a page of ready tasks. A task that is offered meanwhile sets `more_in_store` again and is not missed."""
        queue.more_in_store = False
        try:
            now_ms = self._clock.now_ms()  # anew at each look: what made us look may have become visible just now
            hints = await self._store.ready_tasks(queue.namespace, queue.name, now_ms, self._ready_limit)
        except BaseException:
            queue.more_in_store = True
            queue.wake_one()  # whoever found the queue empty meanwhile looks again
            raise
        for hint in hints:
            if hint.task_id not in queue.known:
                self._add(queue, hint)
                queue.wake_one()
        if len(hints) == self._ready_limit:
            queue.more_in_store = True


# Enough for every worker that stops within a poll's time; a key that falls out only costs an empty poll.
_STOPPED_WORKERS_KEPT = 10_000


def hint_of(row: TaskRow) -> TaskHint:
    """What is needed of a row to deliver it."""
    return TaskHint(row.namespace, row.queue, row.task_id, row.run_id, row.priority, row.visible_at_ms)

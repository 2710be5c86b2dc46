"""The write path: load → decide → commit → effects. The only place that changes runs."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import structlog

from towline.clock import Clock
from towline.core.refusal import Refused
from towline.core.request import DeliverTask, Request, StartWorkflow
from towline.core.task import TaskRow
from towline.server.agenda import Agendas
from towline.server.asked import Answer, Asked, StartConflict
from towline.server.blobs import Blob
from towline.server.lease import Lease, WorkflowLease, release
from towline.server.lease_tokens import LeaseTokens
from towline.server.live_run import LiveRun, LiveRuns
from towline.server.matching import Matching
from towline.server.settings import Settings
from towline.server.turn import TOKENS_PER_TURN, Turn
from towline.server.watchers import Watchers
from towline.server.work import Work
from towline.status import Status
from towline.store.api import RunRow, Store, StoreError
from towline.store.group import GroupCommit

log = structlog.get_logger(__name__)


class Engine:
    """Requests go in, each for one run; answers come out once what they rest on is durable (law 4)."""

    def __init__(
        self,
        store: Store,
        *,
        matching: Matching,
        agendas: Agendas,
        watchers: Watchers,
        clock: Clock,
        settings: Settings,
    ) -> None:
        self._store = store
        self._group = GroupCommit(store)
        self._matching = matching
        self._agendas = agendas
        self._watchers = watchers
        self._clock = clock
        self._settings = settings
        self._tokens = LeaseTokens(store, block=settings.lease_token_block)
        self._tasks: set[asyncio.Task[None]] = set()
        self.runs = LiveRuns(
            limit=settings.cached_runs,
            limit_bytes=settings.cached_bytes,
            history_limit_bytes=settings.cached_bytes_per_run,
        )

    async def ask(
        self, run_id: str, request: Request, *, next_task_for: str | None = None, replaces_run_id: str = ""
    ) -> Answer:
        """Carry out a request. Raises Refused (nothing was changed), StartConflict, and StoreError (try again).

        A caller that is cancelled does not take its request back; a lease that was made for it is given back.
        """
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        live = self.runs.take(run_id)
        live.waiting.append(Asked(request, future, next_task_for, replaces_run_id))
        if not live.busy:
            live.busy = True
            self._spawn(self._serve(live))
        return await future

    async def deliver(self, run_id: str, task_id: str, *, identity: str) -> Lease | None:
        """Lease a task; None: there is nothing to do for it."""
        answer = await self.ask(run_id, DeliverTask(task_id, identity, 0))
        return answer.lease

    def give_back(self, row: TaskRow) -> None:
        """A lease did not reach its worker: make the task ready again at once."""
        self._spawn(self._release(row))

    async def close(self) -> None:
        """Finish what was begun."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        await self._group.close()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _release(self, row: TaskRow) -> None:
        try:
            await self.ask(row.run_id, release(row))
        except Refused:
            log.debug("lease to give back was over already", task=row.task_id)
        except StoreError as error:
            log.warning("lease not given back: the task waits until it runs out", task=row.task_id, error=str(error))

    async def _serve(self, live: LiveRun) -> None:
        """Turn by turn, until nothing waits for the run."""
        try:
            while live.waiting:
                await self._serve_turn(live)
        finally:
            self.runs.put_back(live)

    async def _serve_turn(self, live: LiveRun) -> None:
        turn: Turn | None = None
        try:
            fresh = await self._load(live)
            await self._tokens.ensure(TOKENS_PER_TURN)
            revision = live.row.revision if live.row else 0
            work = Work(live.run, revision=revision, replaces_run_id=live.waiting[0].replaces_run_id)
            turn = Turn(work, matching=self._matching, tokens=self._tokens, clock=self._clock)
            turn.decide_waiting(live.waiting, fresh=fresh, size_limit_bytes=self._settings.batch_size_bytes)
            if work.empty():
                self._answer(turn)
            else:
                await self._commit(live, turn)
            if turn.doubtful:
                live.forget()
        except Exception as error:  # whatever it is, nobody may be left waiting for an answer
            self._give_up(live, turn, error)
            if not isinstance(error, StoreError):
                log.exception("run could not be served", run_id=live.run_id)
        self.runs.account(live)

    async def _load(self, live: LiveRun) -> bool:
        """Have the run in memory. True: it is just as it is in the store."""
        if live.run is not None:
            return False
        if not isinstance(live.waiting[0].request, StartWorkflow):
            stored = await self._store.load_run(live.run_id)
            if stored is not None:
                live.load(stored)
        return True

    async def _commit(self, live: LiveRun, turn: Turn) -> None:
        blob = turn.work.blob()
        batch = turn.work.batch(blob)
        if not await self._group.commit(batch):
            self._conflict(live, turn)
            return
        assert turn.work.run is not None
        live.advance(turn.work.run, row=batch.run, blob=blob)
        self._answer(turn, tuple(live.blobs) if live.blobs is not None else None)
        self._perform(turn, batch.run)

    def _answer(self, turn: Turn, blobs: tuple[Blob, ...] | None = None) -> None:
        """What was decided is durable: tell those who asked, and hand out what was leased."""
        for asked in turn.asked:
            for lease in asked.leases():
                _attach(lease, blobs)
            if not asked.answer():
                for lease in asked.leases():
                    self.give_back(lease.row)
        for poller, lease in turn.polls:
            _attach(lease, blobs)
            if not poller.give(lease):
                self.give_back(lease.row)

    def _perform(self, turn: Turn, row: RunRow) -> None:
        """The effects that live in memory."""
        now_ms = self._clock.now_ms()
        self._agendas.tasks_changed(turn.work.tasks(), now_ms)
        self._agendas.tasks_gone(turn.work.acked())
        self._agendas.timers_changed(turn.work.timers())
        for task in turn.work.tasks():
            if not task.leased() and task.visible_at_ms <= now_ms:
                self._matching.offer(task)
        self._watchers.committed(row)

    def _suspect(self, work: Work) -> None:
        """It may be in the store all the same: hints that are wrong do no harm, hints that are missing do."""
        self._agendas.tasks_changed(work.tasks(), self._clock.now_ms())
        self._agendas.timers_changed(work.timers())
        for task in work.tasks():
            self._matching.look(task.namespace, task.queue)

    def _conflict(self, live: LiveRun, turn: Turn) -> None:
        """Another server was first: nothing was written. Decide again on what is stored now (law 3)."""
        live.forget()
        turn.undo_polls()
        for asked in reversed(turn.asked):
            asked.forget()
            asked.conflicts += 1
            if isinstance(asked.request, StartWorkflow):
                asked.fail(StartConflict())
            elif asked.conflicts >= self._settings.commit_attempts:
                asked.fail(Refused(Status.UNAVAILABLE, f"run {live.run_id} is being changed by others: try again"))
            else:
                live.waiting.appendleft(asked)

    def _give_up(self, live: LiveRun, turn: Turn | None, error: Exception) -> None:
        """It cannot be told what is stored: forget the run, and say so to everybody who waits."""
        live.forget()
        if turn is not None:
            turn.undo_polls()
            self._suspect(turn.work)
        for asked in [*(turn.asked if turn else ()), *live.waiting]:
            asked.fail(error)
        live.waiting.clear()


def _attach(lease: Lease, blobs: tuple[Blob, ...] | None) -> None:
    if isinstance(lease, WorkflowLease):
        lease.blobs = blobs

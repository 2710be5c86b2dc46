"""One turn of one run: the requests that wait are decided one after another and go into one commit."""

from collections import deque

from towline import limits
from towline.clock import Clock
from towline.core.decide import decide
from towline.core.decision import ChangeTask, Decision, Delivered, PutTask, Stale
from towline.core.refusal import Refused
from towline.core.request import DeliverTask, Request
from towline.core.task import WORKFLOW_QUEUE_PREFIX, TaskRow
from towline.server.asked import Asked
from towline.server.lease import Lease, lease_of
from towline.server.lease_tokens import LeaseTokens
from towline.server.matching import Matching, Poller
from towline.server.work import Work

_REQUESTS_PER_TURN = 500
# Lease tokens that a turn can use: one a request, and one for each activity that a completion schedules. They are set
# aside before it, so that deciding awaits nothing.
TOKENS_PER_TURN = limits.PENDING_ACTIVITIES + _REQUESTS_PER_TURN


class Turn:
    """Decides requests, and leases every task that became ready to a poll that waits for it ("born leased").

    `doubtful`: memory said no to a request, and another server may have changed the run since; that request is back in
    the line, and the run must be loaded again before it is decided.
    """

    def __init__(self, work: Work, *, matching: Matching, tokens: LeaseTokens, clock: Clock) -> None:
        self.work = work
        self.asked: list[Asked] = []
        self.polls: list[tuple[Poller, Lease]] = []
        self.doubtful = False
        self._matching = matching
        self._tokens = tokens
        self._clock = clock
        self._leases_left = TOKENS_PER_TURN

    def decide_waiting(self, waiting: deque[Asked], *, fresh: bool, size_limit_bytes: int) -> None:
        """Take requests out of `waiting` and decide them, as many as one commit should carry."""
        while waiting and len(self.asked) < _REQUESTS_PER_TURN and self.work.size_bytes <= size_limit_bytes:
            asked = waiting.popleft()
            self.asked.append(asked)  # before anything can go wrong: whoever asked gets an answer
            sure = fresh or self.work.run is None
            if not self._decide(asked) and not sure:
                asked.forget()
                waiting.appendleft(self.asked.pop())
                self.doubtful = True
                return

    def undo_polls(self) -> None:
        """Nothing was committed: the polls wait on."""
        for poller, lease in self.polls:
            self._matching.put_back(lease.row.namespace, lease.row.queue, poller)

    def _decide(self, asked: Asked) -> bool:
        """False: it is refused, or there is nothing to do, and nothing was done."""
        try:
            decision = self._ask(asked.request)
        except Refused as refused:
            asked.refusal = refused
            return False
        asked.outcome = decision.outcome
        if isinstance(decision.outcome, Stale) and not decision.effects:
            return False
        asked.lease = self._take(decision)
        for effect in decision.effects:
            if isinstance(effect, PutTask | ChangeTask) and self._ready(effect.row):
                self._match(asked, effect.row)
        return True

    def _ask(self, request: Request) -> Decision:
        if isinstance(request, DeliverTask):
            request = DeliverTask(request.task_id, request.identity, self._token())
        return decide(self.work.run, request, now_ms=self._clock.now_ms())

    def _take(self, decision: Decision) -> Lease | None:
        self.work.take(decision)
        if not isinstance(decision.outcome, Delivered):
            return None
        assert self.work.run is not None
        return lease_of(self.work.run, decision.outcome.row)

    def _ready(self, row: TaskRow) -> bool:
        return not row.leased() and row.visible_at_ms <= self._clock.now_ms() and self._leases_left > 0

    def _match(self, asked: Asked, row: TaskRow) -> None:
        """Lease a task that just became ready: to the worker that reports, if it wants it, or to a poll that waits."""
        if asked.next_task_for is not None and asked.next_task is None and row.queue.startswith(WORKFLOW_QUEUE_PREFIX):
            asked.next_task = self._lease(row, asked.next_task_for)
            return
        poller = self._matching.take_poller(row.namespace, row.queue)
        if poller is None:
            return
        lease = self._lease(row, poller.identity)
        if lease is None:
            self._matching.put_back(row.namespace, row.queue, poller)
        else:
            self.polls.append((poller, lease))

    def _lease(self, row: TaskRow, identity: str) -> Lease | None:
        return self._take(
            decide(self.work.run, DeliverTask(row.task_id, identity, self._token()), now_ms=self._clock.now_ms())
        )

    def _token(self) -> int:
        self._leases_left -= 1
        return self._tokens.take()

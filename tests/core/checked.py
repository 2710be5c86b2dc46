"""A run on the bench whose every answer is held against the rules that always hold."""

from copy import deepcopy

from tests.core import bench
from tests.core.bench import Bench
from tests.core.history_checks import check_history
from towline.api.common_pb2 import WORKFLOW_EXECUTION_STATUS_RUNNING
from towline.api.history_pb2 import HistoryEvent
from towline.api.token_pb2 import TaskToken
from towline.core import activity, lease
from towline.core import request as requests
from towline.core.apply import fold
from towline.core.decision import AckTask, ChangeTask, Decision, Delivered, PutTask
from towline.core.refusal import Refused
from towline.core.state import Run
from towline.core.task import activity_task_id, workflow_task_id
from towline.core.workflow_task import virtual_started_event
from towline.status import Status

REPORTS = (
    requests.CompleteWorkflowTask,
    requests.FailWorkflowTask,
    requests.CompleteActivityTask,
    requests.FailActivityTask,
    requests.RecordHeartbeat,
    requests.ReleaseTask,
)
REFUSALS = {Status.INVALID_ARGUMENT, Status.FAILED_PRECONDITION, Status.NOT_FOUND, Status.UNIMPLEMENTED}


class CheckedRun:
    """Remembers all tokens, task ids and timer ids that it ever gave out, so that stale ones can be used."""

    def __init__(self, *, workflow_task_timeout_ms: int) -> None:
        self.box = Bench()
        self.tokens: list[TaskToken] = []
        self.task_ids: list[str] = ["nonsense"]
        self.timer_ids: list[str] = ["nonsense"]
        self.told: dict[tuple[str, int], HistoryEvent] = {}  # by lease: the started event that its holder was told
        self._follow(self.box.start(workflow_task_timeout_ms=workflow_task_timeout_ms))

    def ask(self, request: requests.Request) -> Decision | None:
        """Ask and check. None: refused."""
        box = self.box
        assert box.run is not None
        before, length, timers = deepcopy(box.run), len(box.history), dict(box.timers)
        refused: Refused | None = None
        decision: Decision | None = None
        try:
            decision = box.ask(request)
        except Refused as refusal:
            refused = refusal
        if decision is None:
            assert refused is not None
            assert refused.status in REFUSALS
            assert (box.run, len(box.history), box.timers) == (before, length, timers), "a refusal changes nothing"
            return None
        self._check_allowed(request, before, decision)
        self._follow(decision)
        return decision

    def _check_allowed(self, request: requests.Request, before: Run, decision: Decision) -> None:
        if isinstance(request, REPORTS):
            row = before.tasks[request.token.task_id]
            assert row.lease_token == request.token.lease_token
            assert lease.live(row, self.box.now_ms), "only the live lease may report"
        if before.state.status != WORKFLOW_EXECUTION_STATUS_RUNNING:
            assert not decision.events, "a closed run stays as it is"

    def _follow(self, decision: Decision) -> None:
        rows = [effect.row for effect in decision.effects if isinstance(effect, PutTask | ChangeTask | AckTask)]
        assert len({row.task_id for row in rows}) == len(rows), "a task is changed once in a decision"
        for effect in decision.effects:
            if isinstance(effect, PutTask):
                self.task_ids.append(effect.row.task_id)
        self.timer_ids = list(dict.fromkeys([*self.timer_ids, *self.box.timers]))
        if isinstance(decision.outcome, Delivered):
            self._check_delivered(decision.outcome)

    def _check_delivered(self, outcome: Delivered) -> None:
        box, row = self.box, outcome.row
        assert box.run is not None
        assert box.rows[row.task_id] == row
        earlier = [token.lease_token for token in self.tokens if token.task_id == row.task_id]
        assert row.lease_token > max(earlier, default=0), "the lease tokens of a task only grow"
        assert row.lease_expires_at_ms > box.now_ms
        self.tokens.append(bench.token(row))
        if row.started_event_id:
            event = virtual_started_event(box.run, row) or box.history[row.started_event_id - 1]
            assert event.event_id == row.started_event_id > box.run.state.previous_started_event_id
            assert event.workflow_task_started.scheduled_event_id == row.scheduled_event_id
            self.told[row.task_id, row.lease_token] = event

    def check_written(self, token: TaskToken, decision: Decision | None) -> None:
        """The event T in history is, to the byte, the one that the worker was told when it took the task."""
        if decision is not None and decision.events:
            assert self.box.history[token.started_event_id - 1] == self.told[token.task_id, token.lease_token]

    def check(self) -> None:
        """What holds for the run at any time."""
        box = self.box
        check_history(box.history)
        assert box.state == fold(box.history)
        pending = {activity_task_id(box.state.run_id, scheduled) for scheduled in box.state.activities}
        if box.state.workflow_task is not None:
            pending.add(workflow_task_id(box.state.run_id, box.state.workflow_task.scheduled_event_id))
        assert set(box.rows) == pending, "what is pending has a row, and nothing else has"
        wanted = {timer for each in box.state.activities.values() for timer in activity.timer_ids(each)}
        assert set(box.timers) <= wanted, "no timer outlives its activity"
        assert {timer for timer in wanted if timer.startswith(activity.SCHEDULE_TO_CLOSE)} <= set(box.timers)

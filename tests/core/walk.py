"""A random walk of requests through one run, each answer held against the rules that always hold."""

from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import TypeVar

from tests.core import bench
from tests.core.bench import Bench
from tests.core.history_checks import check_history
from towline.api.command_pb2 import Command
from towline.api.common_pb2 import WORKFLOW_EXECUTION_STATUS_RUNNING, RetryPolicy
from towline.api.history_pb2 import HistoryEvent
from towline.api.task_service_pb2 import (
    CompleteActivityTaskRequest,
    CompleteWorkflowTaskRequest,
    FailActivityTaskRequest,
    FailWorkflowTaskRequest,
    RecordHeartbeatRequest,
)
from towline.api.token_pb2 import TaskToken
from towline.api.workflow_service_pb2 import SignalWorkflowRequest, TerminateWorkflowRequest
from towline.core import activity, lease
from towline.core import request as ask
from towline.core.apply import fold
from towline.core.decision import AckTask, ChangeTask, Decision, Delivered, PutTask
from towline.core.refusal import Refused
from towline.core.state import Run
from towline.core.task import activity_task_id, workflow_task_id
from towline.core.workflow_task import virtual_started_event
from towline.status import Status

T = TypeVar("T")

WORKFLOW_TASK, ACTIVITY = "/wt/", "/a/"
REPORTS = (
    ask.CompleteWorkflowTask,
    ask.FailWorkflowTask,
    ask.CompleteActivityTask,
    ask.FailActivityTask,
    ask.RecordHeartbeat,
    ask.ReleaseTask,
)
REFUSALS = {Status.INVALID_ARGUMENT, Status.FAILED_PRECONDITION, Status.NOT_FOUND, Status.UNIMPLEMENTED}


class Walk:
    """Requests are made of tokens and ids that were ever seen: mostly of live ones, now and then of stale ones."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.box = Bench()
        self.tokens: list[TaskToken] = []
        self.task_ids: list[str] = ["nonsense"]
        self.timer_ids: list[str] = ["nonsense"]
        self.told: dict[tuple[str, int], HistoryEvent] = {}  # by lease: the started event that its holder was told
        self.activity_count = 0
        self._follow(self.box.start(workflow_task_timeout_ms=self._one_of(0, 1_000)))

    def step(self) -> str:
        """Do something, check everything; says what was done."""
        moves = list(_MOVES)
        move = self.random.choices(moves, weights=list(_MOVES.values()))[0]
        move(self)
        self._check_run()
        return move.__name__

    def _one_of(self, *values: T) -> T:
        return self.random.choice(values)

    def _chance(self, percent: int) -> bool:
        return self.random.random() * 100 < percent

    # What holds for any single request.

    def _ask(self, request: ask.Request) -> Decision | None:
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

    def _check_allowed(self, request: ask.Request, before: Run, decision: Decision) -> None:
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
                assert effect.row.version == 1
                self.task_ids.append(effect.row.task_id)
            if isinstance(effect, ChangeTask):
                assert effect.row.version == effect.expected_version + 1
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

    def _check_written(self, token: TaskToken, decision: Decision | None) -> None:
        """The event T in history is, to the byte, the one that the worker was told when it took the task."""
        if decision is not None and decision.events:
            assert self.box.history[token.started_event_id - 1] == self.told[token.task_id, token.lease_token]

    # What holds for the run at any time.

    def _check_run(self) -> None:
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

    # The moves.

    def _token(self, kind: str) -> TaskToken:
        """A token of that kind: mostly the newest of a task that is there, else any that was given, or a forged one."""
        given = [token for token in self.tokens if kind in token.task_id]
        live = [token for token in given if token.task_id in self.box.rows]
        if live and self._chance(80):
            return self._one_of(*live[-3:])
        if not given:
            return TaskToken(task_id="run-1/wt/2", lease_token=1, scheduled_event_id=2, started_event_id=3)
        token = deepcopy(self._one_of(*given))
        token.lease_token += self._one_of(0, 0, 0, 1)
        return token

    def _kind(self) -> str:
        return self._one_of(WORKFLOW_TASK, ACTIVITY)

    def _schedule(self) -> Command:
        self.activity_count += 1
        activity_id = str(self.activity_count) if self._chance(98) else "1"
        return bench.schedule_activity(
            activity_id,
            start_to_close_timeout_ms=self._one_of(1_000, 5_000) if self._chance(98) else 0,
            schedule_to_close_timeout_ms=self._one_of(0, 0, 3_000, 20_000),
            schedule_to_start_timeout_ms=self._one_of(0, 0, 1_000),
            heartbeat_timeout_ms=self._one_of(0, 0, 500),
            retry_policy=RetryPolicy(
                initial_interval_ms=self._one_of(0, 100),
                backoff_coefficient=self._one_of(0.0, 1.0, 3.0),
                maximum_attempts=self._one_of(0, 1, 2),
                non_retryable_error_types=self._one_of([], ["Fatal"]),
            ),
        )

    def _closing(self) -> Command:
        return self._one_of(bench.complete_workflow(bench.payloads(b"done")), bench.fail_workflow())

    def time_passes(self) -> None:
        self.box.now_ms += self._one_of(1, 1, 100, 100, 500, -300, 1_000, 10_000)

    def signal(self) -> None:
        request_id = self._one_of("", "", "a", f"request {len(self.box.history)}")
        name = "poke" if self._chance(95) else ""
        self._ask(ask.SignalWorkflow(SignalWorkflowRequest(signal_name=name, request_id=request_id)))

    def deliver_anything(self) -> None:
        self._ask(ask.DeliverTask(self._one_of(*self.task_ids), "w", self.random.randint(1, 30)))

    def deliver_what_waits(self) -> None:
        for task_id in list(self.box.rows):
            self._ask(ask.DeliverTask(task_id, self._one_of("w1", "w2"), self.random.randint(1, 30)))

    def complete(self) -> None:
        asked = [self._schedule() for _ in range(self._one_of(0, 1, 2))]
        if self._chance(4):
            asked += [self._closing()]
        if self._chance(4):
            asked += [self._one_of(Command(), self._closing(), self._schedule())]
        token = self._token(WORKFLOW_TASK)
        message = CompleteWorkflowTaskRequest(commands=asked, identity="w")
        self._check_written(token, self._ask(ask.CompleteWorkflowTask(token, message)))

    def fail(self) -> None:
        token = self._token(WORKFLOW_TASK)
        message = FailWorkflowTaskRequest(failure=bench.application_failure(), identity="w")
        self._check_written(token, self._ask(ask.FailWorkflowTask(token, message)))

    def keep_failing(self) -> None:
        for _ in range(4):
            self.fail()
            self.box.now_ms += 60_000
            self.deliver_what_waits()

    def complete_activity(self) -> None:
        token = self._token(ACTIVITY)
        message = CompleteActivityTaskRequest(lease_token=token.lease_token, result=bench.payloads(b"r"), identity="w")
        self._ask(ask.CompleteActivityTask(token, message))

    def fail_activity(self) -> None:
        token = self._token(ACTIVITY)
        failure = bench.application_failure(
            type=self._one_of("", "Fatal"), non_retryable=self._chance(20), next_retry_delay_ms=self._one_of(0, 50)
        )
        message = FailActivityTaskRequest(lease_token=token.lease_token, failure=failure, identity="w")
        self._ask(ask.FailActivityTask(token, message))

    def heartbeat(self) -> None:
        token = self._token(ACTIVITY)
        details = self._one_of(None, bench.payloads(b"half"))
        self._ask(ask.RecordHeartbeat(token, RecordHeartbeatRequest(lease_token=token.lease_token, details=details)))

    def report_on_the_wrong_kind(self) -> None:
        token = self._token(WORKFLOW_TASK)
        message = CompleteActivityTaskRequest(lease_token=token.lease_token)
        assert self._ask(ask.CompleteActivityTask(token, message)) is None
        if any(ACTIVITY in each.task_id for each in self.tokens):
            assert self._ask(ask.CompleteWorkflowTask(self._token(ACTIVITY), CompleteWorkflowTaskRequest())) is None

    def release(self) -> None:
        self._ask(ask.ReleaseTask(self._token(self._kind())))

    def expire(self) -> None:
        token = self._token(self._kind())
        self.box.now_ms += self._one_of(0, 1_000, 10_000)
        self._ask(ask.LeaseExpired(token.task_id, token.lease_token))

    def fire(self) -> None:
        due = [timer for timer, fire_at_ms in self.box.timers.items() if fire_at_ms <= self.box.now_ms]
        for timer_id in due or [self._one_of(*self.timer_ids)]:
            self._ask(ask.TimerFired(timer_id))

    def terminate(self) -> None:
        self._ask(ask.TerminateWorkflow(TerminateWorkflowRequest(reason="enough")))


# How often each move is made.
_MOVES: dict[Callable[[Walk], None], float] = {
    Walk.time_passes: 4,
    Walk.signal: 3,
    Walk.deliver_anything: 2,
    Walk.deliver_what_waits: 8,
    Walk.complete: 8,
    Walk.fail: 1,
    Walk.keep_failing: 0.3,
    Walk.complete_activity: 5,
    Walk.fail_activity: 3,
    Walk.heartbeat: 2,
    Walk.report_on_the_wrong_kind: 0.5,
    Walk.release: 1,
    Walk.expire: 1.5,
    Walk.fire: 1.5,
    Walk.terminate: 0.1,
}

"""A random walk of requests through one run."""

from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import TypeVar

from tests.core import bench
from tests.core.checked import CheckedRun
from towline.api.command_pb2 import Command
from towline.api.common_pb2 import RetryPolicy
from towline.api.task_service_pb2 import (
    CompleteActivityTaskRequest,
    CompleteWorkflowTaskRequest,
    FailActivityTaskRequest,
    FailWorkflowTaskRequest,
    RecordHeartbeatRequest,
)
from towline.api.token_pb2 import TaskToken
from towline.api.workflow_service_pb2 import SignalWorkflowRequest, TerminateWorkflowRequest
from towline.core import request as ask

T = TypeVar("T")

WORKFLOW_TASK, ACTIVITY = "/wt/", "/a/"


class Walk:
    """Requests are made of tokens and ids that were ever seen: mostly of live ones, now and then of stale ones."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.activity_count = 0
        self.run = CheckedRun(workflow_task_timeout_ms=self._one_of(0, 1_000))
        self.box = self.run.box

    def step(self) -> str:
        """Do something, check everything; says what was done."""
        moves = list(_MOVES)
        move = self.random.choices(moves, weights=list(_MOVES.values()))[0]
        move(self)
        self.run.check()
        return move.__name__

    def _one_of(self, *values: T) -> T:
        return self.random.choice(values)

    def _chance(self, percent: int) -> bool:
        return self.random.random() * 100 < percent

    def _token(self, kind: str) -> TaskToken:
        """A token of that kind: mostly the newest of a task that is there, else any that was given, or a forged one."""
        given = [token for token in self.run.tokens if kind in token.task_id]
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
        self.run.ask(ask.SignalWorkflow(SignalWorkflowRequest(signal_name=name, request_id=request_id)))

    def deliver_anything(self) -> None:
        self.run.ask(ask.DeliverTask(self._one_of(*self.run.task_ids), "w", self.random.randint(1, 30)))

    def deliver_what_waits(self) -> None:
        for task_id in list(self.box.rows):
            self.run.ask(ask.DeliverTask(task_id, self._one_of("w1", "w2"), self.random.randint(1, 30)))

    def complete(self) -> None:
        asked = [self._schedule() for _ in range(self._one_of(0, 1, 2))]
        if self._chance(4):
            asked += [self._closing()]
        if self._chance(4):
            asked += [self._one_of(Command(), self._closing(), self._schedule())]
        token = self._token(WORKFLOW_TASK)
        message = CompleteWorkflowTaskRequest(commands=asked, identity="w")
        self.run.check_written(token, self.run.ask(ask.CompleteWorkflowTask(token, message)))

    def fail(self) -> None:
        token = self._token(WORKFLOW_TASK)
        message = FailWorkflowTaskRequest(failure=bench.application_failure(), identity="w")
        self.run.check_written(token, self.run.ask(ask.FailWorkflowTask(token, message)))

    def keep_failing(self) -> None:
        for _ in range(4):
            self.fail()
            self.box.now_ms += 60_000
            self.deliver_what_waits()

    def complete_activity(self) -> None:
        token = self._token(ACTIVITY)
        message = CompleteActivityTaskRequest(lease_token=token.lease_token, result=bench.payloads(b"r"), identity="w")
        self.run.ask(ask.CompleteActivityTask(token, message))

    def fail_activity(self) -> None:
        token = self._token(ACTIVITY)
        failure = bench.application_failure(
            type=self._one_of("", "Fatal"), non_retryable=self._chance(20), next_retry_delay_ms=self._one_of(0, 50)
        )
        message = FailActivityTaskRequest(lease_token=token.lease_token, failure=failure, identity="w")
        self.run.ask(ask.FailActivityTask(token, message))

    def heartbeat(self) -> None:
        token = self._token(ACTIVITY)
        details = self._one_of(None, bench.payloads(b"half"))
        self.run.ask(ask.RecordHeartbeat(token, RecordHeartbeatRequest(lease_token=token.lease_token, details=details)))

    def report_on_the_wrong_kind(self) -> None:
        token = self._token(WORKFLOW_TASK)
        message = CompleteActivityTaskRequest(lease_token=token.lease_token)
        assert self.run.ask(ask.CompleteActivityTask(token, message)) is None
        if any(ACTIVITY in each.task_id for each in self.run.tokens):
            assert self.run.ask(ask.CompleteWorkflowTask(self._token(ACTIVITY), CompleteWorkflowTaskRequest())) is None

    def release(self) -> None:
        self.run.ask(ask.ReleaseTask(self._token(self._kind())))

    def keep_releasing(self) -> None:
        for _ in range(4):
            self.run.ask(ask.ReleaseTask(self._token(WORKFLOW_TASK)))
            self.deliver_what_waits()

    def expire(self) -> None:
        token = self._token(self._kind())
        self.box.now_ms += self._one_of(0, 1_000, 10_000)
        self.run.ask(ask.LeaseExpired(token.task_id, token.lease_token))

    def fire(self) -> None:
        due = [timer for timer, fire_at_ms in self.box.timers.items() if fire_at_ms <= self.box.now_ms]
        for timer_id in due or [self._one_of(*self.run.timer_ids)]:
            self.run.ask(ask.TimerFired(timer_id))

    def terminate(self) -> None:
        self.run.ask(ask.TerminateWorkflow(TerminateWorkflowRequest(reason="enough")))


# How often each move is made.
_MOVES: dict[Callable[[Walk], None], float] = {
    Walk.time_passes: 4,
    Walk.signal: 3,
    Walk.deliver_anything: 2,
    Walk.deliver_what_waits: 8,
    Walk.complete: 8,
    Walk.fail: 1,
    Walk.keep_failing: 0.8,
    Walk.complete_activity: 5,
    Walk.fail_activity: 3,
    Walk.heartbeat: 2,
    Walk.report_on_the_wrong_kind: 0.5,
    Walk.release: 1,
    Walk.keep_releasing: 0.8,
    Walk.expire: 1.5,
    Walk.fire: 1.5,
    Walk.terminate: 0.1,
}

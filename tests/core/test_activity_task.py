"""Activity tasks: delivered under a lease, and fenced."""

from typing import Any

import pytest

from tests.core.bench import (
    Bench,
    payloads,
    schedule_activity,
)
from tests.core.refusals import expect_refusal
from towline.api import common_pb2 as common
from towline.api.common_pb2 import RetryPolicy
from towline.api.token_pb2 import TaskToken
from towline.core.decision import AckTask, Stale
from towline.limits import PAYLOAD_SIZE_BYTES
from towline.status import Status

LIMIT = PAYLOAD_SIZE_BYTES
ONCE = RetryPolicy(maximum_attempts=1)


@pytest.fixture
def box() -> Bench:
    """An activity waits."""
    started = Bench()
    started.run_activities(schedule_activity())
    return started


class TestDelivery:
    def test_a_leftover_of_a_closed_activity_is_acknowledged(self, box: Bench) -> None:
        row = box.activity_row()
        box.complete_activity(box.take_activity())
        box.rows[row.task_id] = row
        decision = box.deliver(row)
        assert (decision.outcome, decision.effects) == (Stale(), [AckTask(row)])

    def test_an_activity_that_runs_is_not_delivered(self, box: Bench) -> None:
        box.take_activity()
        decision = box.deliver(box.activity_row())
        assert (decision.outcome, decision.effects) == (Stale(), [])

    @pytest.mark.parametrize(
        ("limits", "attempt_ms", "lease_ms"),
        [
            ({"start_to_close_timeout_ms": 10_000}, 10_000, 10_000),
            ({"start_to_close_timeout_ms": 10_000, "heartbeat_timeout_ms": 2_000}, 10_000, 2_000),
            ({"start_to_close_timeout_ms": 1_000, "heartbeat_timeout_ms": 2_000}, 1_000, 1_000),
            ({"start_to_close_timeout_ms": 10_000, "schedule_to_close_timeout_ms": 12_000}, 7_000, 7_000),
        ],
    )
    def test_the_deadline_and_the_lease(self, limits: dict[str, Any], attempt_ms: int, lease_ms: int) -> None:
        box = Bench()
        box.run_activities(schedule_activity(**limits))
        box.now_ms += 5_000
        box.take_activity()
        row = box.activity_row()
        assert row.attempt_expires_at_ms - box.now_ms == attempt_ms
        assert row.lease_expires_at_ms - box.now_ms == lease_ms


class TestFencing:
    @pytest.mark.parametrize("action", ["complete_activity", "fail_activity", "heartbeat", "release"])
    def test_a_late_first_attempt_is_refused_and_the_second_recorded(self, box: Bench, action: str) -> None:
        first = box.take_activity(identity="w1")
        box.now_ms += 10_000
        box.expire(first)
        box.now_ms += 1_000
        second = box.take_activity(identity="w2")
        with expect_refusal(box, Status.FAILED_PRECONDITION, "stale"):
            getattr(box, action)(first)
        box.complete_activity(second, payloads(b"second"), identity="w2")
        started, completed = box.history[-3].activity_task_started, box.history[-2].activity_task_completed
        assert (started.attempt, started.lease_token, started.identity) == (2, second.lease_token, "w2")
        assert started.last_failure.timeout_failure_info.timeout_type == common.TIMEOUT_TYPE_START_TO_CLOSE
        assert (completed.result, completed.identity) == (payloads(b"second"), "w2")

    @pytest.mark.parametrize("action", ["complete_activity", "fail_activity", "heartbeat", "release"])
    def test_a_lease_that_ran_out(self, box: Bench, action: str) -> None:
        held = box.take_activity()
        box.now_ms += 10_000
        with expect_refusal(box, Status.FAILED_PRECONDITION, "has ended"):
            getattr(box, action)(held)

    def test_a_second_completion(self, box: Bench) -> None:
        held = box.take_activity()
        box.complete_activity(held)
        with expect_refusal(box, Status.FAILED_PRECONDITION, "no longer pending"):
            box.complete_activity(held)

    def test_another_lease_token_beside_the_task_token(self, box: Bench) -> None:
        held = box.take_activity()
        with expect_refusal(box, Status.FAILED_PRECONDITION):
            box.fail_activity(held, lease_token=held.lease_token + 1)

    def test_a_task_token_of_the_other_kind(self, box: Bench) -> None:
        held = box.take_activity()
        with expect_refusal(box, Status.FAILED_PRECONDITION):
            box.complete(held)
        box.signal()
        other = box.take_workflow_task()
        with expect_refusal(box, Status.FAILED_PRECONDITION):
            box.complete_activity(other)

    def test_a_scheduled_event_that_is_not_the_tasks(self, box: Bench) -> None:
        forged = TaskToken()
        forged.CopyFrom(box.take_activity())
        forged.scheduled_event_id = 2
        with expect_refusal(box, Status.FAILED_PRECONDITION):
            box.complete_activity(forged)

"""The command that schedules an activity."""

from typing import Any

import pytest

from tests.core.bench import (
    Bench,
    events_of,
    payloads,
    schedule_activity,
)
from tests.core.history_checks import check_history
from tests.core.refusals import expect_refusal
from towline.api import common_pb2 as common
from towline.api.common_pb2 import RetryPolicy
from towline.limits import DURATION_LIMIT_MS, PAYLOAD_SIZE_BYTES, PENDING_ACTIVITIES, RETRY_POLICY_SIZE_BYTES
from towline.status import Status

LIMIT = PAYLOAD_SIZE_BYTES
ONCE = RetryPolicy(maximum_attempts=1)


@pytest.fixture
def box() -> Bench:
    """An activity waits."""
    started = Bench()
    started.run_activities(schedule_activity())
    return started


class TestScheduling:
    def test_what_the_command_leaves_out_is_filled_in(self) -> None:
        box = Bench()
        box.run_activities(
            schedule_activity(
                start_to_close_timeout_ms=0, schedule_to_close_timeout_ms=7_000, schedule_to_start_timeout_ms=500
            )
        )
        scheduled = box.history[4].activity_task_scheduled
        assert (scheduled.task_queue, scheduled.start_to_close_timeout_ms) == ("q", 7_000)
        assert scheduled.retry_policy.maximum_attempts == 0
        assert box.timers == {"schedule_to_start/5": box.now_ms + 500, "schedule_to_close/5": box.now_ms + 7_000}

    def test_one_attempt_never_has_longer_than_all_of_them(self) -> None:
        box = Bench()
        box.run_activities(schedule_activity(start_to_close_timeout_ms=9_000, schedule_to_close_timeout_ms=7_000))
        assert box.history[4].activity_task_scheduled.start_to_close_timeout_ms == 7_000

    def test_on_a_task_queue_of_its_own(self) -> None:
        box = Bench()
        box.run_activities(schedule_activity(task_queue="gpu"))
        assert box.activity_row().queue == "act:gpu"

    def test_several_at_once_name_the_same_completion(self) -> None:
        box = Bench()
        box.run_activities(schedule_activity("a"), schedule_activity("b"))
        ids = [event.activity_task_scheduled.workflow_task_completed_event_id for event in box.history[4:]]
        assert ids == [4, 4]
        assert sorted(box.rows) == ["run-1/a/5", "run-1/a/6"]

    @pytest.mark.parametrize(
        ("attributes", "words"),
        [
            ({"activity_id": ""}, "activity_id is empty"),
            ({"activity_id": "x" * 1_001}, "1,001 bytes, the limit is 1,000"),
            ({"activity_id": "é" * 501}, "1,002 bytes, the limit is 1,000"),
            ({"activity_type": ""}, "activity_type of demo-1/1 is empty"),
            ({"task_queue": "x" * 1_001}, "task_queue of demo-1/1"),
            ({"start_to_close_timeout_ms": 0}, "activity demo-1/1 has no time limit"),
            ({"start_to_close_timeout_ms": -1}, "start_to_close_timeout_ms of demo-1/1 is -1"),
            ({"schedule_to_close_timeout_ms": -1}, "schedule_to_close_timeout_ms of demo-1/1 is -1"),
            ({"schedule_to_start_timeout_ms": -1}, "schedule_to_start_timeout_ms of demo-1/1 is -1"),
            ({"heartbeat_timeout_ms": -1}, "heartbeat_timeout_ms of demo-1/1 is -1"),
            ({"heartbeat_timeout_ms": DURATION_LIMIT_MS + 1}, "choose a shorter time"),
            ({"retry_policy": RetryPolicy(backoff_coefficient=0.5)}, "backoff_coefficient is 0.5"),
            (
                {"retry_policy": RetryPolicy(non_retryable_error_types=["x" * RETRY_POLICY_SIZE_BYTES])},
                "retry policy of demo-1/1 is 65,540 bytes, the limit is 65,536 bytes (64 KiB): shorten",
            ),
            ({"input": payloads(b"x" * (LIMIT + 1))}, "activity input of demo-1/1 is 2,097,153 bytes, the limit is"),
            ({"input": payloads(b"x" * LIMIT, b"x")}, "2,097,152 bytes (2 MiB): store it elsewhere and pass its path"),
        ],
    )
    def test_a_wrong_command_is_refused_and_the_task_goes_on(self, attributes: dict[str, Any], words: str) -> None:
        box = Bench()
        box.start()
        held = box.take_workflow_task()
        with expect_refusal(box, Status.INVALID_ARGUMENT, words):
            box.complete(held, schedule_activity("fine"), schedule_activity(**attributes))
        assert "activity_task_scheduled" in events_of(box.complete(held, schedule_activity("fine")))

    def test_an_input_of_exactly_the_limit_is_taken(self) -> None:
        box = Bench()
        box.run_activities(schedule_activity(input=payloads(b"x" * (LIMIT - 1), b"x")))
        assert box.names()[-1] == "activity_task_scheduled"

    @pytest.mark.parametrize("closed_before", [False, True])
    def test_an_activity_id_names_one_activity_for_ever(self, box: Bench, closed_before: bool) -> None:
        if closed_before:
            box.complete_activity(box.take_activity())
        else:
            box.signal()
        held = box.take_workflow_task()
        with expect_refusal(box, Status.INVALID_ARGUMENT, "demo-1/1 was scheduled before"):
            box.complete(held, schedule_activity("1"))
        with expect_refusal(box, Status.INVALID_ARGUMENT, "demo-1/2 was scheduled before"):
            box.complete(held, schedule_activity("2"), schedule_activity("2"))

    def test_too_many_pending_ones_fail_the_workflow_task(self) -> None:
        box = Bench()
        box.run_activities(*[schedule_activity(str(n)) for n in range(PENDING_ACTIVITIES)])
        assert len(box.state.activities) == PENDING_ACTIVITIES
        box.signal()
        decision = box.complete(box.take_workflow_task(), schedule_activity("straw"))
        assert events_of(decision) == ["workflow_task_failed", "workflow_task_scheduled"]
        failed = decision.events[0].workflow_task_failed
        assert failed.cause == common.WORKFLOW_TASK_FAILED_CAUSE_PENDING_ACTIVITIES_LIMIT_EXCEEDED
        assert "demo-1/straw" in failed.failure.message
        assert "the limit is 2,000" in failed.failure.message
        check_history(box.history)

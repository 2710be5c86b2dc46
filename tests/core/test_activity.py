"""Activities, reported on: completed, failed, a sign of life, given back, and taken along by the end of their run."""

from typing import Any

import pytest

from tests.core.bench import (
    Bench,
    application_failure,
    complete_workflow,
    details,
    events_of,
    fail_workflow,
    payloads,
    schedule_activity,
)
from tests.core.history_checks import check_history
from tests.core.refusals import expect_refusal
from towline.api import common_pb2 as common
from towline.api.command_pb2 import Command
from towline.api.common_pb2 import RetryPolicy
from towline.core.decision import HeartbeatRecorded, Stale
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


class TestCompletion:
    @pytest.mark.parametrize("size", [0, LIMIT])
    def test_a_result_up_to_the_limit(self, box: Bench, size: int) -> None:
        box.complete_activity(box.take_activity(), payloads(b"x" * size))
        assert len(box.history[6].activity_task_completed.result.payloads[0].data) == size

    @pytest.mark.parametrize(
        ("size", "words"),
        [
            (LIMIT + 1, "activity result of demo-1/1 is 2,097,153 bytes, the limit is 2,097,152 bytes (2 MiB)"),
            (3_250_586, "activity result of demo-1/1 is 3.1 MiB, the limit is 2 MiB"),
        ],
    )
    def test_a_larger_one_is_refused(self, box: Bench, size: int, words: str) -> None:
        held = box.take_activity()
        with expect_refusal(box, Status.INVALID_ARGUMENT, words, "store it elsewhere and return its path"):
            box.complete_activity(held, payloads(b"x" * size))
        assert events_of(box.complete_activity(held)), "the lease is still good"

    def test_no_result_stays_none(self, box: Bench) -> None:
        box.complete_activity(box.take_activity(), None)
        assert not box.history[6].activity_task_completed.HasField("result")

    def test_its_timers_go(self) -> None:
        box = Bench()
        box.run_activities(schedule_activity(schedule_to_close_timeout_ms=20_000, schedule_to_start_timeout_ms=5_000))
        held = box.take_activity()
        assert list(box.timers) == ["schedule_to_close/5"]
        box.complete_activity(held)
        assert box.timers == {}


class TestFailure:
    def test_is_tried_again_without_a_trace(self, box: Bench) -> None:
        waits_ms = []
        for attempt in range(1, 11):
            assert box.activity_row().attempt == attempt
            held = box.take_activity()
            assert events_of(box.fail_activity(held, application_failure(f"failure {attempt}"))) == []
            waits_ms.append(box.activity_row().visible_at_ms - box.now_ms)
            box.now_ms = box.activity_row().visible_at_ms
        assert waits_ms == [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 100_000, 100_000, 100_000]
        assert details(box.activity_row()).last_failure.message == "failure 10"
        box.complete_activity(box.take_activity())
        started = box.history[5].activity_task_started
        assert (started.attempt, started.last_failure.message) == (11, "failure 10")

    @pytest.mark.parametrize(
        ("policy", "failure", "retry_state"),
        [
            (ONCE, application_failure(), common.RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED),
            (RetryPolicy(), application_failure(non_retryable=True), common.RETRY_STATE_NON_RETRYABLE_FAILURE),
            (
                RetryPolicy(non_retryable_error_types=["Fatal"]),
                application_failure(type="Fatal"),
                common.RETRY_STATE_NON_RETRYABLE_FAILURE,
            ),
        ],
    )
    def test_for_good_is_written(self, policy: RetryPolicy, failure: Any, retry_state: int) -> None:
        box = Bench()
        box.run_activities(schedule_activity(retry_policy=policy))
        decision = box.fail_activity(box.take_activity(identity="w7"), failure)
        assert events_of(decision) == ["activity_task_started", "activity_task_failed", "workflow_task_scheduled"]
        started, failed = decision.events[0].activity_task_started, decision.events[1].activity_task_failed
        assert (started.attempt, started.identity) == (1, "w7")
        assert (failed.scheduled_event_id, failed.started_event_id, failed.retry_state) == (5, 6, retry_state)
        assert failed.failure == failure
        check_history(box.history)

    def test_no_attempt_begins_when_all_of_them_must_be_over(self) -> None:
        box = Bench()
        box.run_activities(schedule_activity(schedule_to_close_timeout_ms=1_000))
        held = box.take_activity()
        decision = box.fail_activity(held)
        assert decision.events[1].activity_task_failed.retry_state == common.RETRY_STATE_TIMEOUT

    def test_a_failure_names_its_own_delay(self, box: Bench) -> None:
        box.fail_activity(box.take_activity(), application_failure(next_retry_delay_ms=600_000))
        assert box.activity_row().visible_at_ms == box.now_ms + 600_000

    def test_an_attempt_that_waits_is_not_delivered_early(self, box: Bench) -> None:
        box.fail_activity(box.take_activity())
        box.now_ms += 999
        assert box.deliver(box.activity_row()).outcome == Stale()

    def test_brings_the_last_heartbeat_details_along(self, box: Bench) -> None:
        held = box.take_activity()
        box.heartbeat(held, payloads(b"old"))
        box.fail_activity(held, last_heartbeat_details=payloads(b"new"))
        assert details(box.activity_row()).heartbeat_details == payloads(b"new")

    def test_has_a_limit(self, box: Bench) -> None:
        held = box.take_activity()
        with expect_refusal(
            box, Status.INVALID_ARGUMENT, "activity failure of demo-1/1 is 2.1 MiB, the limit is 2 MiB"
        ):
            box.fail_activity(held, application_failure("x" * 2_200_000))


class TestHeartbeat:
    def test_moves_the_lease_but_not_past_the_deadline(self) -> None:
        box = Bench()
        box.run_activities(schedule_activity(heartbeat_timeout_ms=4_000))
        held = box.take_activity()
        expiries = []
        for _ in range(4):
            box.now_ms += 2_500
            decision = box.heartbeat(held) if box.now_ms < 1_010_000 else None
            expiries.append(box.activity_row().lease_expires_at_ms - 1_000_000)
            assert decision is None or decision.outcome == HeartbeatRecorded(cancel_requested=False)
        assert expiries == [6_500, 9_000, 10_000, 10_000]

    def test_keeps_the_newest_details_for_the_next_attempt(self, box: Bench) -> None:
        held = box.take_activity()
        box.heartbeat(held, payloads(b"1"))
        box.heartbeat(held, payloads(b"2"))
        box.heartbeat(held)
        box.fail_activity(held)
        assert details(box.activity_row()).heartbeat_details == payloads(b"2")

    def test_that_changes_nothing_writes_nothing(self, box: Bench) -> None:
        assert box.heartbeat(box.take_activity()).effects == []

    def test_details_have_a_limit(self, box: Bench) -> None:
        held = box.take_activity()
        with expect_refusal(box, Status.INVALID_ARGUMENT, "heartbeat of demo-1/1 is 2.1 MiB"):
            box.heartbeat(held, payloads(b"x" * 2_200_000))

    def test_input_and_details_fit_one_message(self) -> None:
        box = Bench()
        box.run_activities(schedule_activity(input=payloads(b"x" * LIMIT)))
        held = box.take_activity()
        with expect_refusal(box, Status.INVALID_ARGUMENT, "activity input of demo-1/1 together with its heartbeat"):
            box.heartbeat(held, payloads(b"x" * LIMIT))


class TestRelease:
    def test_the_task_is_there_at_once_as_the_same_attempt(self, box: Bench) -> None:
        box.fail_activity(box.take_activity())
        box.now_ms += 1_000
        held = box.take_activity()
        box.release(held)
        row = box.activity_row()
        assert (row.attempt, row.visible_at_ms, row.leased(), row.attempt_expires_at_ms) == (2, box.now_ms, False, 0)
        with expect_refusal(box, Status.FAILED_PRECONDITION):
            box.complete_activity(held)

    def test_the_wait_for_a_worker_goes_on(self) -> None:
        box = Bench()
        box.run_activities(schedule_activity(schedule_to_start_timeout_ms=3_000))
        waits_until_ms = box.now_ms + 3_000
        held = box.take_activity()
        assert box.timers == {}
        box.release(held)
        assert box.timers == {"schedule_to_start/5": waits_until_ms}


@pytest.mark.parametrize("closing", [complete_workflow(), fail_workflow()])
def test_the_end_of_the_run_takes_its_activities_along(box: Bench, closing: Command) -> None:
    box.signal()
    box.complete(box.take_workflow_task(), schedule_activity("2", schedule_to_close_timeout_ms=60_000))
    held = box.take(box.rows["run-1/a/5"])
    box.signal()
    box.complete(box.take_workflow_task(), schedule_activity("3", schedule_to_close_timeout_ms=60_000), closing)
    assert (box.rows, box.timers, box.state.activities) == ({}, {}, {})
    with expect_refusal(box, Status.FAILED_PRECONDITION, "demo-1", "closed"):
        box.complete_activity(held)
    check_history(box.history)


@pytest.mark.parametrize("end", ["complete", "fail", "lease", "timer"])
def test_its_end_stands_behind_the_virtual_start_of_a_workflow_task(end: str) -> None:
    box = Bench()
    box.run_activities(
        schedule_activity(
            start_to_close_timeout_ms=600_000, schedule_to_close_timeout_ms=600_000, heartbeat_timeout_ms=60_000
        )
    )
    box.signal()
    while box.workflow_row().attempt < 3:
        box.now_ms = max(box.now_ms, box.workflow_row().visible_at_ms)
        box.fail_task(box.take_workflow_task())
    box.now_ms = 1_595_000 if end in ("lease", "timer") else 1_100_000
    activity = box.take_activity()
    workflow_task = box.take_workflow_task()
    told = box.told()
    assert told is not None, "nothing of the third attempt is written yet"
    box.now_ms += 5_000
    match end:
        case "complete":
            box.complete_activity(activity)
        case "fail":
            box.fail_activity(activity, application_failure(non_retryable=True))
        case "lease":
            box.expire(activity)
        case _:
            box.fire("schedule_to_close/5")
    assert box.names()[-3] == "workflow_task_started"
    assert box.history[workflow_task.started_event_id - 1] == told
    assert events_of(box.complete(workflow_task)) == ["workflow_task_completed", "workflow_task_scheduled"]
    check_history(box.history)

"""Activities: scheduled by a command, delivered under a lease, closed once. For time limits see their own file."""

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
from tests.core.refused import refused
from towline.api import common_pb2 as common
from towline.api.command_pb2 import Command
from towline.api.common_pb2 import RetryPolicy
from towline.api.token_pb2 import TaskToken
from towline.core.decision import AckTask, HeartbeatRecorded, Stale
from towline.limits import DURATION_LIMIT_MS, PAYLOAD_SIZE_BYTES, PENDING_ACTIVITIES
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
            ({"input": payloads(b"x" * (LIMIT + 1))}, "activity input of demo-1/1 is 2,097,153 bytes, the limit is"),
            ({"input": payloads(b"x" * LIMIT, b"x")}, "2,097,152 bytes (2 MiB): store it elsewhere and pass its path"),
        ],
    )
    def test_a_wrong_command_is_refused_and_the_task_goes_on(self, attributes: dict[str, Any], words: str) -> None:
        box = Bench()
        box.start()
        held = box.take_workflow_task()
        with refused(box, Status.INVALID_ARGUMENT, words):
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
        with refused(box, Status.INVALID_ARGUMENT, "demo-1/1 was scheduled before"):
            box.complete(held, schedule_activity("1"))
        with refused(box, Status.INVALID_ARGUMENT, "demo-1/2 was scheduled before"):
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


class TestDelivery:
    def test_a_leftover_of_a_closed_activity_is_acknowledged(self, box: Bench) -> None:
        row = box.activity_row()
        box.complete_activity(box.take_activity())
        box.rows[row.task_id] = row
        decision = box.deliver(row)
        assert (decision.outcome, decision.effects) == (Stale(), [AckTask(row, row.version)])

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
        with refused(box, Status.FAILED_PRECONDITION, "stale"):
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
        with refused(box, Status.FAILED_PRECONDITION, "has ended"):
            getattr(box, action)(held)

    def test_a_second_completion(self, box: Bench) -> None:
        held = box.take_activity()
        box.complete_activity(held)
        with refused(box, Status.FAILED_PRECONDITION, "no longer pending"):
            box.complete_activity(held)

    def test_another_lease_token_beside_the_task_token(self, box: Bench) -> None:
        held = box.take_activity()
        with refused(box, Status.FAILED_PRECONDITION):
            box.fail_activity(held, lease_token=held.lease_token + 1)

    def test_a_task_token_of_the_other_kind(self, box: Bench) -> None:
        held = box.take_activity()
        with refused(box, Status.FAILED_PRECONDITION):
            box.complete(held)
        box.signal()
        other = box.take_workflow_task()
        with refused(box, Status.FAILED_PRECONDITION):
            box.complete_activity(other)

    def test_a_scheduled_event_that_is_not_the_tasks(self, box: Bench) -> None:
        forged = TaskToken()
        forged.CopyFrom(box.take_activity())
        forged.scheduled_event_id = 2
        with refused(box, Status.FAILED_PRECONDITION):
            box.complete_activity(forged)


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
        with refused(box, Status.INVALID_ARGUMENT, words, "store it elsewhere and return its path"):
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
        with refused(box, Status.INVALID_ARGUMENT, "activity failure of demo-1/1 is 2.1 MiB, the limit is 2 MiB"):
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
        with refused(box, Status.INVALID_ARGUMENT, "heartbeat of demo-1/1 is 2.1 MiB"):
            box.heartbeat(held, payloads(b"x" * 2_200_000))

    def test_input_and_details_fit_one_message(self) -> None:
        box = Bench()
        box.run_activities(schedule_activity(input=payloads(b"x" * LIMIT)))
        held = box.take_activity()
        with refused(box, Status.INVALID_ARGUMENT, "activity input of demo-1/1 together with its heartbeat"):
            box.heartbeat(held, payloads(b"x" * LIMIT))


class TestRelease:
    def test_the_task_is_there_at_once_as_the_same_attempt(self, box: Bench) -> None:
        box.fail_activity(box.take_activity())
        box.now_ms += 1_000
        held = box.take_activity()
        box.release(held)
        row = box.activity_row()
        assert (row.attempt, row.visible_at_ms, row.leased(), row.attempt_expires_at_ms) == (2, box.now_ms, False, 0)
        with refused(box, Status.FAILED_PRECONDITION):
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
    with refused(box, Status.FAILED_PRECONDITION, "demo-1", "closed"):
        box.complete_activity(held)
    check_history(box.history)

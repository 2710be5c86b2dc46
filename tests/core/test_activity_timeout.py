"""Time limits of activities: of one attempt (tried again), of the wait for a worker and of all attempts (final)."""

from typing import Any

import pytest

from tests.core.bench import Bench, application_failure, details, events_of, payloads, schedule_activity
from tests.core.history_checks import check_history
from towline.api import common_pb2 as common
from towline.api.common_pb2 import RetryPolicy
from towline.api.history_pb2 import ActivityTaskTimedOutEventAttributes
from towline.core.decision import AckTask, ClearTimer, Done, Stale
from towline.limits import EVENT_SIZE_BYTES, PAYLOAD_SIZE_BYTES

START_TO_CLOSE = common.TIMEOUT_TYPE_START_TO_CLOSE
SCHEDULE_TO_START = common.TIMEOUT_TYPE_SCHEDULE_TO_START
SCHEDULE_TO_CLOSE = common.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE
HEARTBEAT = common.TIMEOUT_TYPE_HEARTBEAT
ONCE = RetryPolicy(maximum_attempts=1)


def waiting(**attributes: Any) -> Bench:
    box = Bench()
    box.run_activities(schedule_activity(**attributes))
    return box


def timed_out(box: Bench) -> ActivityTaskTimedOutEventAttributes:
    """The one ActivityTaskTimedOut in history."""
    (event,) = (event for event in box.history if event.HasField("activity_task_timed_out"))
    check_history(box.history)
    return event.activity_task_timed_out


class TestOneAttempt:
    @pytest.mark.parametrize(
        ("limits", "after_ms", "kind", "words"),
        [
            ({}, 10_000, START_TO_CLOSE, "attempt 1 at activity demo-1/1 took longer than 10 s"),
            ({"heartbeat_timeout_ms": 1_500}, 1_500, HEARTBEAT, "sent no heartbeat for 1.5 s"),
            ({"heartbeat_timeout_ms": 1_500}, 10_000, START_TO_CLOSE, "took longer than 10 s"),
        ],
    )
    def test_is_tried_again(self, limits: dict[str, int], after_ms: int, kind: int, words: str) -> None:
        box = waiting(**limits)
        held = box.take_activity()
        box.now_ms += after_ms
        decision = box.expire(held)
        assert (decision.outcome, decision.events) == (Done(), [])
        row = box.activity_row()
        assert (row.attempt, row.visible_at_ms, row.leased()) == (2, box.now_ms + 1_000, False)
        failure = details(row).last_failure
        assert failure.timeout_failure_info.timeout_type == kind
        assert words in failure.message

    def test_for_the_last_time(self) -> None:
        box = waiting(retry_policy=ONCE, heartbeat_timeout_ms=1_000)
        held = box.take_activity(identity="w3")
        box.heartbeat(held, payloads(b"half"))
        box.now_ms += 1_000
        decision = box.expire(held)
        assert events_of(decision) == ["activity_task_started", "activity_task_timed_out", "workflow_task_scheduled"]
        assert decision.events[0].activity_task_started.identity == "w3"
        attributes = timed_out(box)
        assert (attributes.scheduled_event_id, attributes.started_event_id) == (5, 6)
        assert attributes.retry_state == common.RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED
        info = attributes.failure.timeout_failure_info
        assert (info.timeout_type, info.last_heartbeat_details) == (HEARTBEAT, payloads(b"half"))
        assert not attributes.failure.HasField("cause")

    def test_the_failure_before_is_the_cause(self) -> None:
        box = waiting(retry_policy=RetryPolicy(maximum_attempts=2))
        box.fail_activity(box.take_activity(), application_failure("first"))
        box.now_ms += 1_000
        held = box.take_activity()
        box.now_ms += 10_000
        box.expire(held)
        assert timed_out(box).failure.cause.message == "first"

    def test_no_time_for_another_one(self) -> None:
        box = waiting(start_to_close_timeout_ms=4_500, schedule_to_close_timeout_ms=5_000)
        held = box.take_activity()
        box.now_ms += 4_500
        box.expire(held)
        assert timed_out(box).retry_state == common.RETRY_STATE_TIMEOUT
        assert timed_out(box).failure.timeout_failure_info.timeout_type == START_TO_CLOSE

    def test_early_and_old_alarms_are_stale(self) -> None:
        box = waiting()
        first = box.take_activity()
        box.now_ms += 9_999
        assert box.expire(first).effects == []
        box.now_ms += 1
        box.expire(first)
        box.now_ms += 1_000
        box.take_activity()
        box.now_ms += 10_000
        decision = box.expire(first)
        assert (decision.outcome, decision.effects) == (Stale(), [])

    def test_an_alarm_for_a_closed_activity_is_stale(self) -> None:
        box = waiting()
        held = box.take_activity()
        box.complete_activity(held)
        box.now_ms += 10_000
        assert box.expire(held).outcome == Stale()

    def test_an_alarm_for_a_leftover_acknowledges_it(self) -> None:
        box = waiting()
        held = box.take_activity()
        row = box.activity_row()
        box.complete_activity(held)
        box.rows[row.task_id] = row
        box.now_ms += 10_000
        decision = box.expire(held)
        assert (decision.outcome, decision.effects) == (Stale(), [AckTask(row)])

    def test_delivery_notices_a_lapsed_lease_by_itself(self) -> None:
        box = waiting()
        box.take_activity()
        box.now_ms += 10_000
        decision = box.deliver(box.activity_row())
        assert (decision.outcome, decision.events) == (Stale(), [])
        assert (box.activity_row().attempt, box.activity_row().visible_at_ms) == (2, box.now_ms + 1_000)

    def test_large_details_give_way_to_the_cause(self) -> None:
        box = waiting(retry_policy=RetryPolicy(maximum_attempts=2))
        held = box.take_activity()
        box.heartbeat(held, payloads(b"x" * PAYLOAD_SIZE_BYTES))
        box.fail_activity(held, application_failure("x" * 1_900_000))
        box.now_ms += 1_000
        held = box.take_activity()
        box.now_ms += 10_000
        box.expire(held)
        failure = timed_out(box).failure
        assert len(failure.cause.message) == 1_900_000
        assert not failure.timeout_failure_info.HasField("last_heartbeat_details")

    @pytest.mark.parametrize("missing_bytes", [0, 100, 300, 2_000])
    def test_the_closing_event_fits_however_large_both_are(self, missing_bytes: int) -> None:
        box = waiting(retry_policy=RetryPolicy(maximum_attempts=2))
        held = box.take_activity()
        box.heartbeat(held, payloads(b"x" * PAYLOAD_SIZE_BYTES))
        cause_bytes = EVENT_SIZE_BYTES - PAYLOAD_SIZE_BYTES - missing_bytes
        box.fail_activity(held, application_failure("x" * cause_bytes))
        box.now_ms += 1_000
        held = box.take_activity()
        box.now_ms += 10_000
        box.expire(held)
        assert len(timed_out(box).failure.cause.message) == cause_bytes
        kept = timed_out(box).failure.timeout_failure_info.HasField("last_heartbeat_details")
        assert kept == (missing_bytes == 2_000)


class TestScheduleToStart:
    def test_is_final(self) -> None:
        box = waiting(schedule_to_start_timeout_ms=3_000)
        box.now_ms += 3_000
        decision = box.fire("schedule_to_start/5")
        assert events_of(decision) == ["activity_task_timed_out", "workflow_task_scheduled"]
        attributes = timed_out(box)
        assert (attributes.started_event_id, attributes.retry_state) == (0, common.RETRY_STATE_TIMEOUT)
        assert attributes.failure.timeout_failure_info.timeout_type == SCHEDULE_TO_START
        assert "no worker took activity demo-1/1 within 3 s" in attributes.failure.message
        assert (list(box.rows), box.timers) == (["run-1/wt/7"], {})

    def test_delivery_notices_it_by_itself(self) -> None:
        box = waiting(schedule_to_start_timeout_ms=3_000)
        box.now_ms += 3_000
        assert box.deliver(box.activity_row()).outcome == Stale()
        assert timed_out(box).failure.timeout_failure_info.timeout_type == SCHEDULE_TO_START

    def test_does_not_concern_a_started_activity(self) -> None:
        box = waiting(schedule_to_start_timeout_ms=3_000)
        box.take_activity()
        assert box.timers == {}
        box.now_ms += 3_000
        decision = box.fire("schedule_to_start/5")
        assert (decision.outcome, decision.effects) == (Stale(), [ClearTimer("run-1", "schedule_to_start/5")])

    def test_does_not_concern_a_second_attempt(self) -> None:
        box = waiting(schedule_to_start_timeout_ms=3_000)
        box.fail_activity(box.take_activity())
        box.now_ms += 3_000
        assert box.fire("schedule_to_start/5").outcome == Stale()
        assert box.take_activity().lease_token == 3


class TestScheduleToClose:
    def test_while_an_attempt_waits(self) -> None:
        box = waiting(schedule_to_close_timeout_ms=5_000)
        box.fail_activity(box.take_activity(), application_failure("first", next_retry_delay_ms=4_999))
        box.now_ms += 5_000
        decision = box.fire("schedule_to_close/5")
        assert events_of(decision) == ["activity_task_timed_out", "workflow_task_scheduled"]
        attributes = timed_out(box)
        assert (attributes.started_event_id, attributes.retry_state) == (0, common.RETRY_STATE_TIMEOUT)
        assert attributes.failure.timeout_failure_info.timeout_type == SCHEDULE_TO_CLOSE
        assert attributes.failure.cause.message == "first"

    def test_while_an_attempt_runs(self) -> None:
        box = waiting(schedule_to_close_timeout_ms=5_000)
        held = box.take_activity()
        box.now_ms += 5_000
        assert events_of(box.fire("schedule_to_close/5"))[:2] == ["activity_task_started", "activity_task_timed_out"]
        assert timed_out(box).started_event_id == 6
        assert box.expire(held).outcome == Stale()

    def test_noticed_when_the_lease_runs_out(self) -> None:
        box = waiting(schedule_to_close_timeout_ms=5_000)
        held = box.take_activity()
        box.now_ms += 5_000
        box.expire(held)
        assert timed_out(box).failure.timeout_failure_info.timeout_type == SCHEDULE_TO_CLOSE
        assert box.timers == {}

    def test_noticed_on_delivery(self) -> None:
        box = waiting(schedule_to_close_timeout_ms=5_000)
        box.now_ms += 5_000
        assert box.deliver(box.activity_row()).outcome == Stale()
        assert timed_out(box).failure.timeout_failure_info.timeout_type == SCHEDULE_TO_CLOSE


@pytest.mark.parametrize("timer_id", ["schedule_to_start/5", "schedule_to_close/5"])
def test_an_early_timer_stays(timer_id: str) -> None:
    box = waiting(schedule_to_start_timeout_ms=3_000, schedule_to_close_timeout_ms=3_000)
    box.now_ms += 2_999
    decision = box.fire(timer_id)
    assert (decision.outcome, decision.effects) == (Stale(), [])


@pytest.mark.parametrize("timer_id", ["schedule_to_close/99", "schedule_to_close/x", "unheard_of/5", ""])
def test_a_timer_that_history_has_no_use_for_is_cleared(timer_id: str) -> None:
    box = waiting()
    decision = box.fire(timer_id)
    assert (decision.outcome, decision.effects) == (Stale(), [ClearTimer("run-1", timer_id)])

"""Workflow tasks that come to nothing: tried again, with a history that stays short however long that goes on."""

import pytest

from tests.core.bench import (
    UNHANDLED_FAILURE,
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
from towline.core.decision import AckTask, Stale
from towline.status import Status


@pytest.fixture
def box() -> Bench:
    started = Bench()
    started.start()
    return started


class TestFailures:
    def test_the_first_failure_is_written_and_the_task_backs_off(self, box: Bench) -> None:
        decision = box.fail_task(box.take_workflow_task(), failure=application_failure("bug", type="KeyError"))
        assert events_of(decision) == ["workflow_task_failed", "workflow_task_scheduled"]
        failed = decision.events[0].workflow_task_failed
        assert (failed.scheduled_event_id, failed.started_event_id, failed.cause) == (2, 3, UNHANDLED_FAILURE)
        assert (failed.failure.message, failed.identity) == ("bug", "w1")
        row = box.workflow_row()
        assert decision.events[1].workflow_task_scheduled.attempt == row.attempt == 2
        assert row.visible_at_ms == box.now_ms + 1_000
        assert details(row).last_failure.message == "bug"

    def test_later_failures_are_counted_and_the_history_stays_short(self, box: Bench) -> None:
        waits_ms = []
        for _ in range(1_000):
            box.fail_task(box.take_workflow_task())
            waits_ms.append(box.workflow_row().visible_at_ms - box.now_ms)
            box.now_ms = box.workflow_row().visible_at_ms
        assert waits_ms[:8] == [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]
        assert box.workflow_row().attempt == 1_001
        assert box.names()[2:] == [
            "workflow_task_started",
            "workflow_task_failed",
            "workflow_task_scheduled",
            "workflow_task_started",
        ]

    def test_a_fixed_worker_completes_a_late_attempt(self, box: Bench) -> None:
        box.fail_until_attempt(7)
        length = len(box.history)
        held = box.take_workflow_task(identity="fixed")
        assert len(box.history) == length, "the started event of a late attempt is not written on delivery"
        told = box.told()
        assert told is not None
        assert (told.event_id, told.event_time_ms) == (length + 1, box.now_ms)
        box.now_ms += 10
        assert events_of(box.complete(held)) == ["workflow_task_started", "workflow_task_completed"]
        assert box.history[-2] == told
        assert told.workflow_task_started.identity == "fixed"
        assert box.state.previous_started_event_id == told.event_id
        check_history(box.history)

    def test_a_written_started_event_is_not_virtual(self, box: Bench) -> None:
        box.take_workflow_task()
        assert box.told() is None

    def test_the_failure_message_has_a_limit(self, box: Bench) -> None:
        held = box.take_workflow_task()
        with expect_refusal(
            box, Status.INVALID_ARGUMENT, "workflow task failure of demo-1 is 2.1 MiB, the limit is 2 MiB"
        ):
            box.fail_task(held, failure=application_failure("x" * 2_200_000))


class TestTimeouts:
    def test_the_next_delivery_is_a_second_started_event_for_the_same_task(self, box: Bench) -> None:
        first = box.take_workflow_task()
        box.now_ms += 10_000
        assert events_of(box.expire(first)) == []
        row = box.workflow_row()
        assert (row.attempt, row.visible_at_ms, row.leased()) == (2, box.now_ms, False)
        assert details(row).last_failure.timeout_failure_info.timeout_type == common.TIMEOUT_TYPE_START_TO_CLOSE
        assert events_of(box.deliver(row)) == ["workflow_task_started"]
        assert box.history[-1].workflow_task_started.scheduled_event_id == 2

    def test_delivery_notices_a_lapsed_lease_by_itself(self, box: Bench) -> None:
        box.take_workflow_task()
        box.now_ms += 10_000
        second = box.take_workflow_task(identity="w2")
        assert box.names()[2:] == ["workflow_task_started", "workflow_task_started"]
        assert (second.started_event_id, box.workflow_row().attempt) == (4, 2)
        assert "was not completed within 10 s" in details(box.workflow_row()).last_failure.message

    def test_a_task_that_kills_its_workers_adds_two_events(self, box: Bench) -> None:
        for _ in range(1_000):
            box.take_workflow_task()
            box.now_ms += 10_000
        assert box.names()[2:] == ["workflow_task_started", "workflow_task_started"]
        assert box.workflow_row().attempt == 1_000

    @pytest.mark.parametrize("early_ms", [1, 10_000])
    def test_an_early_alarm_is_stale(self, box: Bench, early_ms: int) -> None:
        held = box.take_workflow_task()
        box.now_ms += 10_000 - early_ms
        decision = box.expire(held)
        assert (decision.outcome, decision.effects) == (Stale(), [])

    def test_an_alarm_for_an_older_lease_is_stale(self, box: Bench) -> None:
        first = box.take_workflow_task()
        box.now_ms += 10_000
        box.take_workflow_task()
        box.now_ms += 10_000
        assert box.expire(first).outcome == Stale()

    def test_an_alarm_for_a_leftover_acknowledges_it(self, box: Bench) -> None:
        held = box.take_workflow_task()
        row = box.workflow_row()
        box.complete(held)
        box.rows[row.task_id] = row
        box.now_ms += 10_000
        decision = box.expire(held)
        assert (decision.outcome, decision.effects) == (Stale(), [AckTask(row)])

    def test_the_runs_own_timeout_counts(self) -> None:
        box = Bench()
        box.start(workflow_task_timeout_ms=3_000)
        box.take_workflow_task()
        assert box.workflow_row().lease_expires_at_ms == box.now_ms + 3_000


class TestNews:
    def test_resets_a_task_that_backs_off(self, box: Bench) -> None:
        box.fail_until_attempt(5)
        box.now_ms -= 5_000
        box.signal()
        row = box.workflow_row()
        assert (row.attempt, row.visible_at_ms) == (1, box.now_ms)
        box.fail_task(box.take_workflow_task())
        assert box.names()[-4:] == [
            "workflow_execution_signaled",
            "workflow_task_started",
            "workflow_task_failed",
            "workflow_task_scheduled",
        ], "after news a failure is written again"

    def test_resets_a_task_whose_lease_ran_out(self, box: Bench) -> None:
        box.take_workflow_task()
        box.now_ms += 10_000
        box.signal()
        assert (box.workflow_row().attempt, box.workflow_row().leased()) == (1, False)

    def test_stands_behind_a_virtual_started_event(self, box: Bench) -> None:
        box.fail_until_attempt(4)
        held = box.take_workflow_task()
        told = box.told()
        box.now_ms += 5
        assert events_of(box.signal()) == ["workflow_task_started", "workflow_execution_signaled"]
        assert box.history[held.started_event_id - 1] == told
        assert events_of(box.signal("again")) == ["workflow_execution_signaled"], "T is written once"
        assert events_of(box.complete(held)) == ["workflow_task_completed", "workflow_task_scheduled"]
        check_history(box.history)

    def test_takes_the_id_of_a_virtual_started_event_whose_lease_ran_out(self, box: Bench) -> None:
        box.fail_until_attempt(4)
        held = box.take_workflow_task()
        box.now_ms += 10_000
        box.signal()
        assert box.names()[held.started_event_id - 1] == "workflow_execution_signaled"
        check_history(box.history)

    def test_behind_a_failing_attempt_counts_anew_after_a_pause(self, box: Bench) -> None:
        box.fail_until_attempt(4)
        held = box.take_workflow_task()
        box.signal()
        decision = box.fail_task(held)
        assert events_of(decision) == ["workflow_task_failed", "workflow_task_scheduled"]
        assert decision.events[1].workflow_task_scheduled.attempt == 1
        assert (box.workflow_row().attempt, box.workflow_row().visible_at_ms) == (1, box.now_ms + 1_000)

    def test_behind_an_attempt_that_times_out_counts_anew(self, box: Bench) -> None:
        box.fail_until_attempt(4)
        held = box.take_workflow_task()
        box.signal()
        box.now_ms += 10_000
        box.expire(held)
        assert (box.workflow_row().attempt, box.workflow_row().visible_at_ms) == (1, box.now_ms)


class TestUnhandledCommand:
    @pytest.mark.parametrize("closing", [complete_workflow(payloads(b"x")), fail_workflow()])
    def test_news_unseen_keeps_the_run_open(self, box: Bench, closing: Command) -> None:
        held = box.take_workflow_task()
        box.signal()
        decision = box.complete(held, schedule_activity(), closing)
        assert events_of(decision) == ["workflow_task_failed", "workflow_task_scheduled"]
        failed = decision.events[0].workflow_task_failed
        assert failed.cause == common.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND
        assert (failed.scheduled_event_id, failed.started_event_id) == (2, 3)
        row = box.workflow_row()
        assert (row.attempt, row.visible_at_ms) == (1, box.now_ms)
        assert events_of(box.complete(box.take_workflow_task(), closing))[0] == "workflow_task_completed"
        check_history(box.history)

    def test_other_commands_are_carried_out(self, box: Bench) -> None:
        held = box.take_workflow_task()
        box.signal()
        decision = box.complete(held, schedule_activity())
        assert events_of(decision) == ["workflow_task_completed", "activity_task_scheduled", "workflow_task_scheduled"]

"""Workflow tasks: one at a time, and fenced."""

import pytest

from tests.core.bench import (
    Bench,
    events_of,
    schedule_activity,
)
from tests.core.refusals import expect_refusal
from towline.api.token_pb2 import TaskToken
from towline.core import request as ask
from towline.core.decision import AckTask, Delivered, Stale
from towline.limits import SUGGEST_CONTINUE_AS_NEW_BYTES, SUGGEST_CONTINUE_AS_NEW_EVENTS
from towline.status import Status


@pytest.fixture
def box() -> Bench:
    started = Bench()
    started.start()
    return started


class TestTriggers:
    def test_news_without_a_pending_task_schedules_one(self, box: Bench) -> None:
        box.complete(box.take_workflow_task())
        assert events_of(box.signal()) == ["workflow_execution_signaled", "workflow_task_scheduled"]

    def test_news_beside_a_waiting_task_schedules_none(self, box: Bench) -> None:
        decision = box.signal()
        assert events_of(decision) == ["workflow_execution_signaled"]
        assert decision.effects == [], "the row needs no change"

    def test_news_beside_a_running_task_waits_for_its_completion(self, box: Bench) -> None:
        held = box.take_workflow_task()
        assert events_of(box.signal()) == ["workflow_execution_signaled"]
        assert events_of(box.complete(held)) == ["workflow_task_completed", "workflow_task_scheduled"]

    def test_an_activity_result_beside_a_running_task_does_too(self, box: Bench) -> None:
        box.complete(box.take_workflow_task(), schedule_activity())
        box.signal()
        held = box.take_workflow_task()
        decision = box.complete_activity(box.take_activity())
        assert events_of(decision) == ["activity_task_started", "activity_task_completed"]
        assert events_of(box.complete(held)) == ["workflow_task_completed", "workflow_task_scheduled"]

    def test_without_news_a_completion_schedules_none(self, box: Bench) -> None:
        assert events_of(box.complete(box.take_workflow_task())) == ["workflow_task_completed"]
        assert box.rows == {}


class TestDelivery:
    def test_a_leftover_of_a_completed_task_is_acknowledged(self, box: Bench) -> None:
        row = box.workflow_row()
        box.complete(box.take_workflow_task())
        box.rows[row.task_id] = row
        decision = box.deliver(row)
        assert (decision.outcome, decision.effects) == (Stale(), [AckTask(row)])
        assert events_of(decision) == []

    def test_a_task_that_is_held_is_not_delivered(self, box: Bench) -> None:
        box.take_workflow_task()
        decision = box.deliver(box.workflow_row())
        assert (decision.outcome, decision.effects, decision.events) == (Stale(), [], [])

    def test_a_task_that_backs_off_is_not_delivered(self, box: Bench) -> None:
        box.fail_task(box.take_workflow_task())
        box.now_ms += 999
        assert box.deliver(box.workflow_row()).outcome == Stale()
        box.now_ms += 1
        assert isinstance(box.deliver(box.workflow_row()).outcome, Delivered)

    def test_an_unknown_task_is_stale(self, box: Bench) -> None:
        assert box.ask(ask.DeliverTask("run-1/wt/77", "w", 1)).outcome == Stale()

    def test_lease_tokens_grow_even_if_the_offered_one_does_not(self, box: Bench) -> None:
        first = box.take_workflow_task()
        box.release(first)
        box.tokens = 0
        assert box.take_workflow_task().lease_token == first.lease_token + 1

    @pytest.mark.parametrize(
        ("events", "size_bytes", "suggested"),
        [
            (SUGGEST_CONTINUE_AS_NEW_EVENTS, SUGGEST_CONTINUE_AS_NEW_BYTES, False),
            (SUGGEST_CONTINUE_AS_NEW_EVENTS + 1, 0, True),
            (0, SUGGEST_CONTINUE_AS_NEW_BYTES + 1, True),
        ],
    )
    def test_a_long_history_suggests_to_continue_as_new(
        self, box: Bench, events: int, size_bytes: int, suggested: bool
    ) -> None:
        box.state.last_event_id, box.state.history_size_bytes = events, size_bytes
        (event,) = box.deliver(box.workflow_row()).events
        assert event.workflow_task_started.suggest_continue_as_new == suggested


class TestFencing:
    def test_a_second_completion(self, box: Bench) -> None:
        held = box.take_workflow_task()
        box.complete(held)
        with expect_refusal(box, Status.FAILED_PRECONDITION, "run-1/wt/2", "no longer pending"):
            box.complete(held)

    @pytest.mark.parametrize("action", ["complete", "fail_task", "release"])
    def test_a_lease_that_ran_out(self, box: Bench, action: str) -> None:
        held = box.take_workflow_task()
        box.now_ms += 10_000
        with expect_refusal(box, Status.FAILED_PRECONDITION, "has ended"):
            getattr(box, action)(held)

    def test_the_last_millisecond_of_a_lease_counts(self, box: Bench) -> None:
        held = box.take_workflow_task()
        box.now_ms += 9_999
        assert events_of(box.complete(held)) == ["workflow_task_completed"]

    @pytest.mark.parametrize("action", ["complete", "fail_task", "release"])
    def test_the_token_of_an_earlier_delivery(self, box: Bench, action: str) -> None:
        first = box.take_workflow_task()
        box.now_ms += 10_000
        second = box.take_workflow_task()
        with expect_refusal(box, Status.FAILED_PRECONDITION, "stale"):
            getattr(box, action)(first)
        assert events_of(box.complete(second)) == ["workflow_task_completed"]
        completed = box.history[-1].workflow_task_completed
        assert (completed.scheduled_event_id, completed.started_event_id) == (2, 4)

    def test_the_right_lease_with_the_wrong_started_event(self, box: Bench) -> None:
        held = box.take_workflow_task()
        forged = TaskToken()
        forged.CopyFrom(held)
        forged.started_event_id += 1
        with expect_refusal(box, Status.FAILED_PRECONDITION):
            box.complete(forged)

    def test_a_closed_run(self, box: Bench) -> None:
        held = box.take_workflow_task()
        box.terminate()
        with expect_refusal(box, Status.FAILED_PRECONDITION, "demo-1", "closed (TERMINATED)"):
            box.complete(held)

    def test_a_run_that_is_gone(self) -> None:
        box = Bench()
        with expect_refusal(box, Status.FAILED_PRECONDITION, "run-9", "gone"):
            box.complete(TaskToken(run_id="run-9", task_id="run-9/wt/2"))

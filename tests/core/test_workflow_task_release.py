"""Workflow tasks that are given back: there again at once, and the history does not grow however often that happens."""

import pytest

from tests.core.bench import Bench, events_of, token
from tests.core.history_checks import check_history
from tests.core.refusals import expect_refusal
from towline.core.decision import Delivered
from towline.status import Status


@pytest.fixture
def box() -> Bench:
    started = Bench()
    started.start()
    return started


def test_the_task_is_there_at_once_as_the_same_attempt(box: Bench) -> None:
    held = box.take_workflow_task()
    assert events_of(box.release(held)) == []
    row = box.workflow_row()
    assert (row.attempt, row.visible_at_ms, row.leased()) == (1, box.now_ms, False)
    with expect_refusal(box, Status.FAILED_PRECONDITION):
        box.complete(held)
    assert box.take_workflow_task().started_event_id == 4


def test_again_and_again_adds_one_started_event(box: Bench) -> None:
    for _ in range(1_000):
        held = box.take_workflow_task()
        box.release(held)
    assert box.names()[2:] == ["workflow_task_started"]
    assert (held.started_event_id, box.workflow_row().attempt) == (4, 1)


def test_of_a_second_attempt_adds_two(box: Bench) -> None:
    box.release(box.take_workflow_task())
    box.take_workflow_task()
    box.now_ms += 10_000
    for _ in range(1_000):
        box.release(box.take_workflow_task())
    assert box.names()[2:] == ["workflow_task_started", "workflow_task_started"]
    assert box.state.workflow_task is not None
    assert box.state.workflow_task.started_count == 2
    assert box.workflow_row().attempt == 2


def test_what_a_released_task_leads_to_stands_behind_its_started_event(box: Bench) -> None:
    box.release(box.take_workflow_task(identity="gone"))
    held = box.take_workflow_task(identity="w2")
    told = box.told()
    assert told is not None
    assert events_of(box.signal()) == ["workflow_task_started", "workflow_execution_signaled"]
    assert box.history[held.started_event_id - 1] == told
    assert events_of(box.complete(held)) == ["workflow_task_completed", "workflow_task_scheduled"]
    assert box.history[-2].workflow_task_completed.started_event_id == told.event_id
    check_history(box.history)


def test_the_next_task_writes_its_started_event_again(box: Bench) -> None:
    box.release(box.take_workflow_task())
    box.signal()
    box.complete(box.take_workflow_task())
    box.signal()
    assert events_of(box.deliver(box.workflow_row())) == ["workflow_task_started"]


def test_of_a_late_attempt(box: Bench) -> None:
    box.fail_until_attempt(4)
    box.release(box.take_workflow_task())
    assert box.workflow_row().attempt == 4
    assert isinstance(box.deliver(box.workflow_row()).outcome, Delivered)
    assert token(box.workflow_row()).started_event_id == len(box.history) + 1


def test_news_that_came_meanwhile_counts_anew(box: Bench) -> None:
    box.fail_until_attempt(4)
    held = box.take_workflow_task()
    box.signal()
    box.release(held)
    assert box.workflow_row().attempt == 1

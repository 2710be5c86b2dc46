"""Histories and effects that cannot be."""

from dataclasses import replace

import pytest

from tests.core.bench import Bench
from towline.api import history_pb2 as history
from towline.api.history_pb2 import EventType, HistoryEvent
from towline.core.apply import CorruptHistory, apply, fold, perform
from towline.core.decision import AckTask, ChangeTask, ClearTimer, Effect, PutTask
from towline.core.state import RunState
from towline.core.task import TaskRow


def started() -> RunState:
    box = Bench()
    box.start()
    return box.state


def row(attempt: int = 1) -> TaskRow:
    return TaskRow("default", "wf:q", "run-1/wt/2", "run-1", "demo-1", 2, attempt, 0)


def test_every_event_type_of_the_contract_is_known() -> None:
    for event_type in EventType.values():
        state = started()
        event = HistoryEvent(event_id=state.last_event_id + 1, event_type=event_type)
        unknown = event_type in (history.EVENT_TYPE_UNSPECIFIED, history.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED)
        try:
            apply(state, event)
        except CorruptHistory as error:
            found = "does not know" in str(error)
        else:
            found = False
        assert found == unknown, EventType.Name(event_type)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (HistoryEvent(event_id=4), "event 4 follows event 2"),
        (HistoryEvent(event_id=2), "event 2 follows event 2"),
        (
            HistoryEvent(event_id=3, event_type=history.EVENT_TYPE_ACTIVITY_TASK_COMPLETED),
            "event 3 closes activity 0, which is not pending",
        ),
        (HistoryEvent(event_id=3, event_type=999), "is of type 999"),  # type: ignore[arg-type]
        (HistoryEvent(event_id=3, event_type=history.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED), "which this version"),
    ],
)
def test_an_event_that_cannot_come_next(event: HistoryEvent, words: str) -> None:
    with pytest.raises(CorruptHistory, match=words):
        apply(started(), event)


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([], "empty"),
        ([HistoryEvent(event_id=1, event_type=history.EVENT_TYPE_WORKFLOW_TASK_STARTED)], "begins with event 1"),
        ([HistoryEvent(event_id=2, event_type=history.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED)], "begins with event 2"),
    ],
)
def test_a_history_that_does_not_begin_with_a_start(events: list[HistoryEvent], words: str) -> None:
    with pytest.raises(CorruptHistory, match=words):
        fold(events)


@pytest.mark.parametrize(
    ("before", "effect", "after"),
    [
        ([], PutTask(row()), [row()]),
        ([row()], ChangeTask(row(2)), [row(2)]),
        ([row()], AckTask(row()), []),
        ([row()], ClearTimer("run-1", "schedule_to_close/5"), [row()]),
    ],
)
def test_effects_on_rows(before: list[TaskRow], effect: Effect, after: list[TaskRow]) -> None:
    tasks = {each.task_id: each for each in before}
    perform(tasks, [effect])
    assert list(tasks.values()) == after


@pytest.mark.parametrize(
    ("before", "effect", "words"),
    [
        ([row()], PutTask(row()), "is there already"),
        ([], AckTask(row()), "is gone"),
        ([replace(row(), task_id="other")], ChangeTask(row(2)), "is gone"),
    ],
)
def test_effects_that_do_not_fit_the_rows(before: list[TaskRow], effect: Effect, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        perform({each.task_id: each for each in before}, [effect])

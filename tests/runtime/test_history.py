"""Cutting a history into the tasks that its workers saw."""

import pytest

from tests.runtime.histories import START_MS, STEP_MS, HistoryBuilder
from towline.runtime.history import BrokenHistory, split


def _shape(history: HistoryBuilder, started: int) -> list[tuple[int, list[int], list[int]]]:
    """Per task: its started event, its news, the events of its commands."""
    return [
        (task.started.event_id, [e.event_id for e in task.news], [e.event_id for e in task.recorded])
        for task in split(history.events, started)
    ]


def test_the_news_of_a_task_are_the_events_since_the_one_before() -> None:
    history = HistoryBuilder("W")
    history.first_task()
    history.task_completed(2, 3)
    first, second = history.activity_scheduled("1", "a"), history.activity_scheduled("2", "a")
    done, signal = history.activity_completed(second), history.signaled("go")
    started = history.task_started(history.task_scheduled())
    assert _shape(history, started) == [(3, [1], [first, second]), (started, [done, signal], [])]


def test_news_that_came_while_a_task_ran_belongs_to_the_next() -> None:
    history = HistoryBuilder("W")
    history.first_task()
    during = history.signaled("go")
    history.task_completed(2, 3)
    scheduled = history.activity_scheduled("1", "a")
    started = history.task_started(history.task_scheduled())
    assert _shape(history, started) == [(3, [1], [scheduled]), (started, [during], [])]


def test_the_started_event_of_an_attempt_that_timed_out_is_skipped() -> None:
    history = HistoryBuilder("W")
    scheduled = history.task_scheduled()
    history.task_started(scheduled)
    during = history.signaled("go")
    second = history.task_started(scheduled)
    assert _shape(history, second) == [(second, [1, during], [])]
    history.task_completed(scheduled, second)
    third = history.task_started(history.task_scheduled())
    assert _shape(history, third) == [(second, [1, during], []), (third, [], [])]


def test_a_failed_attempt_decides_nothing() -> None:
    history = HistoryBuilder("W")
    history.task_failed(2, history.first_task())
    signal = history.signaled("go")
    started = history.task_started(history.task_scheduled())
    assert _shape(history, started) == [(started, [1, signal], [])]


def test_events_after_the_started_event_are_left_out() -> None:
    history = HistoryBuilder("W")
    started = history.first_task()
    history.signaled("go")
    history.task_completed(2, started)
    assert _shape(history, started) == [(started, [1], [])]


def test_the_time_of_a_task_is_that_of_its_started_event() -> None:
    history = HistoryBuilder("W")
    history.task_completed(2, history.first_task())
    started = history.task_started(history.task_scheduled())
    times = [task.started.event_time_ms for task in split(history.events, started)]
    assert times == [START_MS + 3 * STEP_MS, START_MS + started * STEP_MS]


def test_an_event_of_a_command_before_any_decision_is_refused() -> None:
    history = HistoryBuilder("W")
    history.activity_scheduled("1", "a")
    with pytest.raises(BrokenHistory, match="event 2 comes from a command, but no workflow task was completed"):
        split(history.events, history.first_task())

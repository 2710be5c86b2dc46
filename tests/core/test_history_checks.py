"""The checks find what they are for: each damage to a sound history is named."""

from collections.abc import Callable

import pytest

from tests.core.bench import Bench, application_failure, complete_workflow, payloads, schedule_activity
from tests.core.history_checks import check_history
from towline.api.history_pb2 import HistoryEvent

Damage = Callable[[list[HistoryEvent]], None]


def sound() -> list[HistoryEvent]:
    """1 started, 2 scheduled, 3 started, 4 failed, 5 scheduled, 6 started, 7 completed, 8 and 9 activities, 10 signal,
    11 scheduled, 12 activity started, 13 completed, 14 started, 15 completed, 16 closed."""
    box = Bench()
    box.start()
    box.fail_task(box.take_workflow_task())
    box.now_ms += 1_000
    box.complete(box.take_workflow_task(), schedule_activity("a"), schedule_activity("b"))
    box.signal(request_id="r")
    box.complete_activity(box.take(box.rows["run-1/a/8"]), payloads(b"x"))
    box.complete(box.take_workflow_task(), complete_workflow())
    return [HistoryEvent.FromString(event.SerializeToString()) for event in box.history]


def renumber(events: list[HistoryEvent]) -> None:
    for event_id, event in enumerate(events, start=1):
        event.event_id = event_id


def drop(*event_ids: int) -> Damage:
    def damage(events: list[HistoryEvent]) -> None:
        for event_id in sorted(event_ids, reverse=True):
            del events[event_id - 1]
        renumber(events)

    return damage


def repeat(event_id: int, *, at: int) -> Damage:
    def damage(events: list[HistoryEvent]) -> None:
        events.insert(at - 1, HistoryEvent.FromString(events[event_id - 1].SerializeToString()))
        renumber(events)

    return damage


def put(event_id: int, path: str, value: object) -> Damage:
    """Overwrite `attributes.field` of an event."""

    def damage(events: list[HistoryEvent]) -> None:
        attributes, field = path.split(".")
        setattr(getattr(events[event_id - 1], attributes), field, value)

    return damage


def started_again(events: list[HistoryEvent]) -> None:
    """The first workflow task is started four times, and nothing was written between."""
    del events[3:]
    for event_id in (4, 5, 6):
        again = HistoryEvent.FromString(events[2].SerializeToString())
        again.event_id = event_id
        again.workflow_task_started.history_size_bytes = sum(event.ByteSize() for event in events)
        events.append(again)


def left_started_again(events: list[HistoryEvent]) -> None:
    started_again(events)
    del events[-1]


def test_a_sound_history_passes() -> None:
    check_history(sound())


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (list.clear, "the history is empty"),
        (lambda events: events.pop(4), r"event 6 \(WORKFLOW_TASK_STARTED\) follows event 4"),
        (drop(1), "event 1 and no other is the start"),
        (repeat(1, at=3), "event 1 and no other is the start"),
        (repeat(10, at=17), "comes after the end of the run"),
        (put(1, "workflow_execution_started.run_id", ""), "has no run_id"),
        (put(2, "workflow_task_scheduled.attempt", 2), "a later attempt follows the failure of an earlier one"),
        (put(3, "workflow_task_started.scheduled_event_id", 1), "names S = 1, the pending one is 2"),
        (put(3, "workflow_task_started.history_size_bytes", 1), "says the history has 1 bytes"),
        (put(4, "workflow_task_failed.started_event_id", 2), "names T = 2, the latest one is 3"),
        (put(7, "workflow_task_completed.scheduled_event_id", 2), "names S = 2, the pending one is 5"),
        (put(7, "workflow_task_completed.started_event_id", 3), "names T = 3, the latest one is 6"),
        (put(9, "activity_task_scheduled.activity_id", "a"), "uses activity id a again"),
        (put(9, "activity_task_scheduled.workflow_task_completed_event_id", 4), "the last one is 7"),
        (repeat(9, at=11), "does not follow the WorkflowTaskCompleted that asked for it"),
        (repeat(10, at=12), "repeats request id r"),
        (repeat(11, at=12), "the workflow task of event 11 is pending already"),
        (put(12, "activity_task_started.scheduled_event_id", 7), "names activity 7, pending are"),
        (put(12, "activity_task_started.attempt", 0), "has attempt 0"),
        (
            put(13, "activity_task_completed.scheduled_event_id", 9),
            r"\(9, 12\), the attempt before it is \(8, 12\)",
        ),
        (
            put(13, "activity_task_completed.started_event_id", 11),
            r"\(8, 11\), the attempt before it is \(8, 12\)",
        ),
        (started_again, "follows start 3 of the same workflow task"),
        (left_started_again, "event 5 is start 3 of one workflow task, and nothing was written behind it"),
        (drop(12), "has no ActivityTaskStarted before it"),
        (drop(13), "only its closing event may"),
        (put(16, "workflow_execution_completed.workflow_task_completed_event_id", 7), "the last one is 15"),
        (drop(11, 12, 13, 14, 15, 16), "event 10 is news after T = 6, and no workflow task is pending"),
        (drop(13, 14, 15, 16), "the history ends inside a batch"),
        (lambda events: events[9].ClearField("workflow_execution_signaled"), "has attributes of another kind"),
    ],
)
def test_damage_is_found(damage: Damage, words: str) -> None:
    events = sound()
    damage(events)
    with pytest.raises(AssertionError, match=words):
        check_history(events)


def test_an_end_that_overlooks_news_is_found() -> None:
    box = Bench()
    box.start()
    held = box.take_workflow_task()
    box.signal()
    events = list(box.history)
    lax = Bench()
    lax.start()
    lax.complete(lax.take_workflow_task(), complete_workflow())
    events += lax.history[3:]
    renumber(events)
    events[-1].workflow_execution_completed.workflow_task_completed_event_id = 5
    with pytest.raises(AssertionError, match="ends the run though event 4 is news after T = 3"):
        check_history(events)
    assert held.started_event_id == 3


def test_an_open_history_passes() -> None:
    box = Bench()
    box.run_activities(schedule_activity())
    check_history(box.history)
    box.fail_activity(box.take_activity(), application_failure(non_retryable=True))
    check_history(box.history)

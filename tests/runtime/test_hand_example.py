"""The worked example: Echo("hi") schedules Upper, and returns what it gave."""

from datetime import timedelta

from tests.runtime.histories import HistoryBuilder
from towline import activity, workflow
from towline.api.command_pb2 import Command
from towline.api.task_service_pb2 import PollWorkflowTaskResponse
from towline.convert import DataConverter
from towline.runtime import WorkflowRegistry


@activity.defn(name="Upper", start_to_close_timeout=timedelta(seconds=10))
async def upper(text: str) -> str:
    return text.upper()


@workflow.defn(name="Echo")
async def echo(text: str) -> str:
    return await upper(text)


def _history() -> HistoryBuilder:
    history = HistoryBuilder("Echo", "hi")
    assert history.first_task() == 3
    history.task_completed(2, 3)
    assert history.activity_scheduled("1", "Upper") == 5
    assert history.activity_completed(5, "HI") == 7
    assert history.task_started(history.task_scheduled()) == 9
    return history


def _decide(history: HistoryBuilder, *, started: int) -> object:
    registry = WorkflowRegistry([echo], DataConverter.default)
    return registry.handle_workflow_task(PollWorkflowTaskResponse(started_event_id=started), history.events)


def test_the_first_task_schedules_the_activity() -> None:
    command = Command()
    attributes = command.schedule_activity
    attributes.activity_id = "1"
    attributes.activity_type = "Upper"
    attributes.input.CopyFrom(DataConverter.default.to_payloads(["hi"]))
    attributes.start_to_close_timeout_ms = 10_000
    history = _history()
    del history.events[3:]
    assert _decide(history, started=3) == [command]


def test_the_second_task_completes_the_workflow() -> None:
    command = Command()
    command.complete_workflow.result.CopyFrom(DataConverter.default.to_payloads(["HI"]))
    assert _decide(_history(), started=9) == [command]


def test_events_after_the_started_event_are_not_seen() -> None:
    history = _history()
    alone = _history()
    del alone.events[3:]
    assert _decide(history, started=3) == _decide(alone, started=3)


async def test_outside_of_a_worker_both_are_plain_functions() -> None:
    assert await echo("hi") == "HI"

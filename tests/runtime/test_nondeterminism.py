"""Code that asks for something else than history has is told so, with all that is needed to find it."""

from datetime import timedelta

import pytest

from tests.runtime.histories import HistoryBuilder, broken
from towline import workflow
from towline.api.command_pb2 import Command
from towline.api.common_pb2 import WorkflowTaskFailedCause
from towline.api.task_service_pb2 import PollWorkflowTaskResponse
from towline.convert import DataConverter
from towline.runtime import WorkflowRegistry, WorkflowTaskFailed

NON_DETERMINISTIC = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR


@workflow.defn(name="Order")
async def order(steps: list[str]) -> None:
    for step in steps:
        workflow.start_activity(step, start_to_close_timeout=timedelta(seconds=1))
    await workflow.execute_activity("last", start_to_close_timeout=timedelta(seconds=1))


@workflow.defn(name="Order")
async def ends(steps: list[str]) -> int:
    return len(steps)


def _decide(
    workflow_code: object, recorded: list[tuple[str, str]], steps: list[str]
) -> list[Command] | WorkflowTaskFailed:
    """The second task of a run whose first one scheduled the recorded activities."""
    history = HistoryBuilder("Order", steps)
    history.first_task()
    history.task_completed(2, 3)
    for activity_id, activity_type in recorded:
        history.activity_scheduled(activity_id, activity_type)
    started = history.task_started(history.task_scheduled())
    registry = WorkflowRegistry([workflow_code], DataConverter.default)
    return registry.handle_workflow_task(PollWorkflowTaskResponse(started_event_id=started), history.events)


def test_the_same_activities_are_no_fault() -> None:
    assert _decide(order, [("1", "charge"), ("2", "last")], ["charge"]) == []


@pytest.mark.parametrize(
    ("recorded", "steps", "says"),
    [
        (
            [("1", "charge"), ("2", "last")],
            ["refund"],
            "event 5 is ActivityTaskScheduled of activity '1' of type 'charge', "
            "but the code asked for activity '1' of type 'refund' at ",
        ),
        (
            [("1", "charge"), ("7", "last")],
            ["charge"],
            "event 6 is ActivityTaskScheduled of activity '7' of type 'last', "
            "but the code asked for activity '2' of type 'last' at ",
        ),
        (
            [("1", "charge"), ("2", "last"), ("3", "more")],
            ["charge"],
            "event 7 is ActivityTaskScheduled of activity '3' of type 'more', but the code asked for nothing there",
        ),
        (
            [("1", "charge")],
            ["charge"],
            "history has nothing more of the workflow task that event 4 completed, "
            "but the code asked for activity '2' of type 'last' at ",
        ),
    ],
)
def test_the_message_names_the_event_and_what_the_code_asked_for(
    recorded: list[tuple[str, str]], steps: list[str], says: str
) -> None:
    failed = broken(_decide(order, recorded, steps))
    assert failed.cause == NON_DETERMINISTIC
    assert failed.failure.message.startswith(says)
    assert failed.failure.application_failure_info.type == "NondeterminismError"


def test_the_message_names_the_line_that_asked() -> None:
    failed = broken(_decide(order, [("1", "charge")], ["refund"]))
    assert "test_nondeterminism.py:" in failed.failure.message
    assert " in order. The code differs" in failed.failure.message


def test_a_run_that_ends_earlier_than_before() -> None:
    failed = broken(_decide(ends, [("1", "charge")], []))
    assert "of type 'charge', but the code asked for the end of the run, with a result" in failed.failure.message
    assert failed.cause == NON_DETERMINISTIC


def test_a_run_that_had_ended_goes_on() -> None:
    history = HistoryBuilder("Order", [])
    history.first_task()
    history.task_completed(2, 3)
    done = Command()
    done.complete_workflow.result.SetInParent()
    history.closed(done)
    started = history.task_started(history.task_scheduled())
    registry = WorkflowRegistry([order], DataConverter.default)
    outcome = registry.handle_workflow_task(PollWorkflowTaskResponse(started_event_id=started), history.events)
    assert (
        "event 5 is WorkflowExecutionCompleted, but the code asked for activity '1'" in broken(outcome).failure.message
    )


def test_a_result_of_an_activity_that_is_not_there() -> None:
    history = HistoryBuilder("Order", [])
    history.first_task()
    history.task_completed(2, 3)
    history.activity_scheduled("1", "last")
    history.activity_completed(4)
    started = history.task_started(history.task_scheduled())
    registry = WorkflowRegistry([order], DataConverter.default)
    outcome = registry.handle_workflow_task(PollWorkflowTaskResponse(started_event_id=started), history.events)
    assert broken(outcome).cause == NON_DETERMINISTIC
    assert "event 7 closes the activity that event 4 scheduled" in broken(outcome).failure.message

"""What is registered, and tasks that no code can decide."""

from collections.abc import Sequence

import pytest

from tests.runtime.histories import HistoryBuilder, Run, broken
from towline import workflow
from towline.api.common_pb2 import WorkflowTaskFailedCause
from towline.api.history_pb2 import HistoryEvent
from towline.api.task_service_pb2 import PollWorkflowTaskResponse
from towline.convert import DataConverter
from towline.exceptions import ApplicationError
from towline.runtime import WorkflowRegistry, WorkflowTaskFailed


@workflow.defn(name="Echo")
async def echo(text: str) -> str:
    return text


@workflow.defn
class Upper:
    def __init__(self) -> None:
        self.calls = 0

    @workflow.run
    async def run(self, text: str) -> str:
        self.calls += 1
        return f"{text.upper()}{self.calls}"


def _decide(history: Sequence[HistoryEvent], *, started: int) -> WorkflowTaskFailed:
    registry = WorkflowRegistry([echo, Upper], DataConverter.default)
    return broken(registry.handle_workflow_task(PollWorkflowTaskResponse(started_event_id=started), history))


def test_functions_and_classes_are_registered_by_name() -> None:
    registry = WorkflowRegistry([echo, Upper], DataConverter.default)
    assert sorted(registry.definitions) == ["Echo", "Upper"]


def test_every_task_gets_a_new_instance_of_the_class() -> None:
    for _ in range(2):
        run = Run(Upper, "a")
        run.step()
        assert run.result() == "A1"


@workflow.defn
class Refuses:
    def __init__(self) -> None:
        raise ApplicationError("never")

    @workflow.run
    async def run(self) -> None: ...


def test_a_class_that_refuses_to_be_made_fails_the_workflow() -> None:
    run = Run(Refuses)
    run.history.signaled("early")
    run.step()
    assert run.failure().message == "never"


def test_an_unknown_type_fails_the_task_and_lists_what_is_registered() -> None:
    history = HistoryBuilder("Order")
    failed = _decide(history.events, started=history.first_task())
    assert failed.cause == WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE
    assert (
        "workflow type 'Order' is not registered with this worker (registered: Echo, Upper)" in failed.failure.message
    )


def test_a_history_that_does_not_begin_at_the_beginning() -> None:
    history = HistoryBuilder("Echo", "hi")
    started = history.first_task()
    assert (
        "does not begin with WorkflowExecutionStarted" in _decide(history.events[1:], started=started).failure.message
    )
    assert "does not begin with WorkflowExecutionStarted" in _decide([], started=started).failure.message


def test_a_history_that_ends_too_early() -> None:
    history = HistoryBuilder("Echo", "hi")
    started = history.first_task()
    failed = _decide(history.events[:2], started=started)
    assert "event 3 is not in the history as WorkflowTaskStarted" in failed.failure.message


def test_an_event_that_this_version_does_not_know() -> None:
    history = HistoryBuilder("Echo", "hi")
    history.events.append(HistoryEvent(event_id=2, event_type=99))  # type: ignore[arg-type]
    failed = _decide(history.events, started=history.first_task())
    assert "event 2 is event type 99, which this version of Towline does not know" in failed.failure.message


def test_two_workflows_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two workflows are named 'Echo'"):
        WorkflowRegistry([echo, echo], DataConverter.default)


def test_undecorated_code_is_refused() -> None:
    with pytest.raises(TypeError, match="is not a workflow: decorate it with"):
        WorkflowRegistry([test_undecorated_code_is_refused], DataConverter.default)

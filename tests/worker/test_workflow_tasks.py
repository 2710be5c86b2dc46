"""Workflow tasks: history in, decision out."""

import asyncio
import threading
from collections.abc import Callable, Sequence

import pytest

from tests.worker.conftest import MakeWorker
from tests.worker.fake_server import FakeServer, payloads
from towline.api.command_pb2 import Command, CompleteWorkflowExecutionCommandAttributes
from towline.api.common_pb2 import WorkflowTaskFailedCause
from towline.api.failure_pb2 import Failure
from towline.api.history_pb2 import History, HistoryEvent
from towline.api.task_service_pb2 import CompleteWorkflowTaskResponse, PollWorkflowTaskResponse
from towline.api.workflow_service_pb2 import GetHistoryRequest, GetHistoryResponse
from towline.runtime.handler import WorkflowTaskFailed
from towline.status import Status
from towline.testing.clock import FakeClock

UNHANDLED = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE
Decide = Callable[[PollWorkflowTaskResponse], list[Command] | WorkflowTaskFailed]


def done() -> Command:
    return Command(complete_workflow=CompleteWorkflowExecutionCommandAttributes(result=payloads("done")))


class Handler:
    """A `WorkflowHandler` that remembers what it was given."""

    def __init__(self, decide: Decide = lambda task: [done()]) -> None:
        self.histories: list[list[int]] = []
        self.threads: set[str] = set()
        self._decide = decide

    def handle_workflow_task(
        self, task: PollWorkflowTaskResponse, history: Sequence[HistoryEvent]
    ) -> list[Command] | WorkflowTaskFailed:
        self.histories.append([event.event_id for event in history])
        self.threads.add(threading.current_thread().name)
        return self._decide(task)


def history(*event_ids: int) -> History:
    return History(events=[HistoryEvent(event_id=event_id) for event_id in event_ids])


async def test_a_decision_is_reported(server: FakeServer, make_worker: MakeWorker) -> None:
    handler = Handler()
    task = server.add_workflow_task(history=history(1, 2, 3))
    running = asyncio.create_task(make_worker(workflow_handler=handler).run())
    completed = await server.called("CompleteWorkflowTask")
    assert handler.histories == [[1, 2, 3]]
    assert handler.threads == {"towline-workflow-1"}
    assert completed.task_token == task.task_token
    assert list(completed.commands) == [done()]
    assert (completed.identity, completed.worker_instance_key) == ("me", "worker-1")
    assert completed.return_new_workflow_task
    assert server.requests("PollActivityTask") == []
    assert not running.done()


async def test_workflows_run_inline_when_told_so(server: FakeServer, make_worker: MakeWorker) -> None:
    handler = Handler()
    server.add_workflow_task()
    running = asyncio.create_task(make_worker(workflow_handler=handler, run_workflows_inline=True).run())
    await server.called("CompleteWorkflowTask")
    assert handler.threads == {threading.current_thread().name}
    assert not running.done()


def _pages(request: GetHistoryRequest) -> GetHistoryResponse:
    return {
        b"page 2": GetHistoryResponse(history=history(3, 4), next_page_token=b"page 3"),
        b"page 3": GetHistoryResponse(history=history(5)),
    }[request.next_page_token]


async def test_every_page_of_history_reaches_the_handler(server: FakeServer, make_worker: MakeWorker) -> None:
    handler = Handler()
    server.answer("GetHistory", _pages)
    task = server.add_workflow_task(history=history(1, 2), next_page_token=b"page 2", started_event_id=5)
    running = asyncio.create_task(make_worker(workflow_handler=handler).run())
    await server.called("CompleteWorkflowTask")
    assert handler.histories == [[1, 2, 3, 4, 5]]
    assert [(page.namespace, page.execution) for page in server.requests("GetHistory")] == [
        ("default", task.execution),
        ("default", task.execution),
    ]
    assert not running.done()


async def test_pages_are_asked_for_again_while_the_server_is_away(
    server: FakeServer, clock: FakeClock, make_worker: MakeWorker
) -> None:
    handler = Handler()
    server.answer("GetHistory", _pages)
    server.fail("GetHistory", Status.UNAVAILABLE)
    server.add_workflow_task(history=history(1, 2), next_page_token=b"page 2", started_event_id=5)
    running = asyncio.create_task(make_worker(workflow_handler=handler).run())
    await clock.wait_for_timer(100)
    clock.advance(100)
    await server.called("CompleteWorkflowTask")
    assert handler.histories == [[1, 2, 3, 4, 5]]
    assert not running.done()


@pytest.mark.parametrize("status", [Status.NOT_FOUND, Status.FAILED_PRECONDITION, Status.INVALID_ARGUMENT])
async def test_a_task_whose_history_cannot_be_had_is_left_alone(
    status: Status, server: FakeServer, make_worker: MakeWorker
) -> None:
    handler = Handler()
    server.fail("GetHistory", status)
    server.add_workflow_task(history=history(1, 2), next_page_token=b"page 2")
    server.add_workflow_task(history=history(1, 2, 3))
    worker = make_worker(workflow_handler=handler, max_concurrent_workflow_tasks=1)
    running = asyncio.create_task(worker.run())
    await server.called("CompleteWorkflowTask")
    assert handler.histories == [[1, 2, 3]]
    assert len(server.reports()) == 1
    assert not running.done()


async def test_the_next_task_in_the_answer_is_run_in_the_same_slot(server: FakeServer, make_worker: MakeWorker) -> None:
    handler = Handler(lambda task: [])
    following = [
        PollWorkflowTaskResponse(task_token=f"following {n}".encode(), history=history(n), started_event_id=n)
        for n in (8, 11)
    ]
    left = list(following)
    server.answer(
        "CompleteWorkflowTask",
        lambda _: CompleteWorkflowTaskResponse(workflow_task=left.pop(0)) if left else CompleteWorkflowTaskResponse(),
    )
    first = server.add_workflow_task(history=history(3))
    worker = make_worker(workflow_handler=handler, max_concurrent_workflow_tasks=1)
    running = asyncio.create_task(worker.run())
    await server.called("CompleteWorkflowTask", 3)
    await server.called("PollWorkflowTask", 2)
    assert handler.histories == [[3], [8], [11]]
    tokens = [request.task_token for request in server.requests("CompleteWorkflowTask")]
    assert tokens == [first.task_token, b"following 8", b"following 11"]
    assert not running.done()


async def test_a_next_task_that_comes_while_draining_is_handed_back(
    server: FakeServer, make_worker: MakeWorker
) -> None:
    handler = Handler()
    following = PollWorkflowTaskResponse(task_token=b"following", history=history(8))
    server.answer("CompleteWorkflowTask", lambda _: CompleteWorkflowTaskResponse(workflow_task=following))
    answered = server.hold("CompleteWorkflowTask")
    server.add_workflow_task(history=history(3))
    worker = make_worker(workflow_handler=handler)
    running = asyncio.create_task(worker.run())
    await server.called("CompleteWorkflowTask")
    worker.shutdown()
    await server.called("ShutdownWorker")
    answered.set()
    await running
    assert [request.task_token for request in server.requests("ReleaseTask")] == [b"following"]
    assert handler.histories == [[3]]


async def test_a_draining_worker_asks_for_no_next_task(server: FakeServer, make_worker: MakeWorker) -> None:
    decide, deciding = threading.Event(), threading.Event()
    loop, began = asyncio.get_running_loop(), asyncio.Event()

    def slowly(task: PollWorkflowTaskResponse) -> list[Command]:
        deciding.set()
        loop.call_soon_threadsafe(began.set)
        decide.wait()
        return []

    server.add_workflow_task()
    worker = make_worker(workflow_handler=Handler(slowly))
    running = asyncio.create_task(worker.run())
    await began.wait()
    worker.shutdown()
    await server.called("ShutdownWorker")
    decide.set()
    await running
    [completed] = server.requests("CompleteWorkflowTask")
    assert not completed.return_new_workflow_task


async def test_a_failed_decision_is_reported_as_it_is(server: FakeServer, make_worker: MakeWorker) -> None:
    cause = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR
    failed = WorkflowTaskFailed(cause, Failure(message="history has a timer at event 5"))
    task = server.add_workflow_task()
    running = asyncio.create_task(make_worker(workflow_handler=Handler(lambda task: failed)).run())
    report = await server.called("FailWorkflowTask")
    assert (report.task_token, report.cause, report.identity) == (task.task_token, cause, "me")
    assert report.failure.message == "history has a timer at event 5"
    assert server.requests("CompleteWorkflowTask") == []
    assert not running.done()


@pytest.mark.parametrize("inline", [True, False], ids=["inline", "thread"])
@pytest.mark.parametrize("error", [ValueError("bug"), SystemExit("bug")])
async def test_a_handler_that_raises_fails_the_task_and_no_more(
    error: BaseException, inline: bool, server: FakeServer, make_worker: MakeWorker
) -> None:
    broken = server.add_workflow_task()
    server.add_workflow_task()

    def decide(task: PollWorkflowTaskResponse) -> list[Command]:
        if task.task_token == broken.task_token:
            raise error
        return []

    worker = make_worker(workflow_handler=Handler(decide), max_concurrent_workflow_tasks=1, run_workflows_inline=inline)
    running = asyncio.create_task(worker.run())
    report = await server.called("FailWorkflowTask")
    assert report.cause == UNHANDLED
    assert report.failure.application_failure_info.type == type(error).__name__
    assert "raise error" in report.failure.stack_trace
    await server.called("CompleteWorkflowTask")
    assert not running.done()


async def test_refused_commands_fail_the_task(server: FakeServer, make_worker: MakeWorker) -> None:
    server.fail("CompleteWorkflowTask", Status.INVALID_ARGUMENT, message="the workflow result is 3 MiB")
    server.add_workflow_task()
    running = asyncio.create_task(make_worker(workflow_handler=Handler()).run())
    report = await server.called("FailWorkflowTask")
    assert report.cause == UNHANDLED
    assert "the workflow result is 3 MiB" in report.failure.message
    assert not running.done()


async def test_a_fenced_decision_is_dropped(server: FakeServer, make_worker: MakeWorker) -> None:
    server.fail("CompleteWorkflowTask", Status.FAILED_PRECONDITION)
    server.add_workflow_task()
    running = asyncio.create_task(make_worker(workflow_handler=Handler(), max_concurrent_workflow_tasks=1).run())
    await server.called("PollWorkflowTask", 2)
    assert len(server.reports()) == 1
    assert not running.done()

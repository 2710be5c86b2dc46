"""Where workflows are decided: in a thread of their own, or on the I/O loop."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Protocol

from towline.api.command_pb2 import Command
from towline.api.common_pb2 import WorkflowTaskFailedCause
from towline.api.history_pb2 import HistoryEvent
from towline.api.task_service_pb2 import PollWorkflowTaskResponse
from towline.client.handover import Inbox
from towline.convert import FailureConverter
from towline.runtime import WorkflowHandler, WorkflowTaskFailed
from towline.worker.failures import failure_of
from towline.worker.threads import Threads

Decision = list[Command] | WorkflowTaskFailed


class WorkflowCode(Protocol):
    """Decides workflow tasks, one at a time."""

    async def decide(self, task: PollWorkflowTaskResponse, history: Sequence[HistoryEvent]) -> Decision:
        """What the workflow asks for. Raises nothing."""


class Inline:
    """On the I/O loop itself: for simulations, where threads would make runs differ. Long decisions stall the loop."""

    def __init__(self, handler: WorkflowHandler, failures: FailureConverter) -> None:
        self._handler = handler
        self._failures = failures

    async def decide(self, task: PollWorkflowTaskResponse, history: Sequence[HistoryEvent]) -> Decision:
        return decide(self._handler, task, history, failures=self._failures)


class InThread:
    """In the thread of `threads`, so that a workflow that computes for long stops no heartbeat and no poll."""

    def __init__(self, handler: WorkflowHandler, failures: FailureConverter, *, threads: Threads, io: Inbox) -> None:
        self._handler = handler
        self._failures = failures
        self._threads = threads
        self._io = io

    async def decide(self, task: PollWorkflowTaskResponse, history: Sequence[HistoryEvent]) -> Decision:
        decided: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._threads.submit(partial(self._decide, task, history, decided))
        return await decided

    def _decide(
        self,
        task: PollWorkflowTaskResponse,
        history: Sequence[HistoryEvent],
        decided: "asyncio.Future[Decision]",
    ) -> None:
        decision = decide(self._handler, task, history, failures=self._failures)
        self._io.put(lambda: None if decided.done() else decided.set_result(decision))


def decide(
    handler: WorkflowHandler,
    task: PollWorkflowTaskResponse,
    history: Sequence[HistoryEvent],
    *,
    failures: FailureConverter,
) -> Decision:
    """The handler's decision; whatever it raises all the same fails the task."""
    try:
        return handler.handle_workflow_task(task, history)
    except BaseException as error:
        cause = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE
        return WorkflowTaskFailed(cause, failure_of(error, converter=failures))

"""One run: its code, its event loop, and what its history says."""

import logging
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import Context
from typing import Any, Final

from towline.activity.caller import current_caller
from towline.api.command_pb2 import Command
from towline.api.common_pb2 import WorkflowTaskFailedCause
from towline.api.history_pb2 import (
    EVENT_TYPE_ACTIVITY_TASK_COMPLETED,
    EVENT_TYPE_ACTIVITY_TASK_FAILED,
    EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT,
    EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED,
    EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
    HistoryEvent,
)
from towline.convert import DataConverter, DecodeError
from towline.convert.size import check_size
from towline.exceptions import TowlineError
from towline.runtime.activity import Activities
from towline.runtime.closing import AskedCompletion, AskedFailure, decides_to_fail
from towline.runtime.command import match
from towline.runtime.context import RunContext, RunIsOver
from towline.runtime.handler import WorkflowTaskFailed
from towline.runtime.history import BrokenHistory, TaskSlice
from towline.runtime.loop import DeterministicLoop
from towline.runtime.names import event_name
from towline.runtime.signal import Signals
from towline.workflow.context import current_context
from towline.workflow.definition import WorkflowDefinition

_LOG: Final = logging.getLogger("towline.workflow")


class Undecided(Exception):
    """Workflow code has a bug; `failed` is what to report."""

    def __init__(self, failed: WorkflowTaskFailed) -> None:
        super().__init__(failed.failure.message)
        self.failed = failed


class Execution:
    """A run from its first event on. `started` is its WorkflowExecutionStarted."""

    def __init__(self, definition: WorkflowDefinition, started: HistoryEvent, converter: DataConverter) -> None:
        run_id = started.workflow_execution_started.run_id
        self._definition = definition
        self._converter = converter
        self._loop = DeterministicLoop(  # type: ignore[abstract]  # the other methods are in forbidden.py
            hash_base=zlib.crc32(run_id.encode()), report_error=self._report
        )
        self._activities = Activities(self._loop, converter)
        self._context = RunContext(started, self._activities)
        self._signals = Signals({}, None, converter)
        self._main: Callable[[], Awaitable[Any]] | None = None
        self._failed: WorkflowTaskFailed | None = None
        self._on_event: Final[Mapping[int, Callable[[HistoryEvent], None]]] = {
            EVENT_TYPE_WORKFLOW_EXECUTION_STARTED: self._on_started,
            EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED: self._on_signaled,
            EVENT_TYPE_ACTIVITY_TASK_COMPLETED: self._activities.completed,
            EVENT_TYPE_ACTIVITY_TASK_FAILED: self._activities.failed,
            EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT: self._activities.timed_out,
        }

    def decide(self, tasks: Sequence[TaskSlice]) -> list[Command]:
        """Go through the workflow tasks, all of them recorded but the last; give the commands of the last one.

        To be called once: afterwards nothing of the run is alive. Raises Undecided for a bug in the code,
        NondeterminismError if the code asks for other things than those recorded, BrokenHistory.
        """
        context = Context()
        with self._loop.running():
            try:
                return context.run(self._decide, tasks)
            finally:
                self._context.over = True
                context.run(self._loop.abandon)

    def _decide(self, tasks: Sequence[TaskSlice]) -> list[Command]:
        current_context.set(self._context)
        current_caller.set(self._context)
        for task in tasks[:-1]:
            self._activate(task, replaying=True)
            match(self._context.asked, task)
        self._activate(tasks[-1], replaying=False)
        return [asked.command for asked in self._context.asked]

    def _activate(self, task: TaskSlice, *, replaying: bool) -> None:
        self._context.begin(task.started, replaying=replaying)
        self._loop.now_ms = task.started.event_time_ms
        for event in task.news:
            self._apply(event)
        if self._main is not None:
            # After the signals that came with the first task, so that their handlers run before it.
            self._loop.create_task(self._run_main(self._main))
            self._main = None
        self._loop.run_ready()
        if self._failed is not None:
            raise Undecided(self._failed)

    def _apply(self, event: HistoryEvent) -> None:
        handler = self._on_event.get(event.event_type)
        if handler is None:
            raise BrokenHistory(
                f"event {event.event_id} is {event_name(event)}, which this version of Towline does not know: "
                "update the worker"
            )
        handler(event)

    def _on_started(self, event: HistoryEvent) -> None:
        definition = self._definition
        try:
            args = self._converter.from_payloads(event.workflow_execution_started.input, definition.arg_types)
        except DecodeError as error:
            raise TowlineError(
                f"workflow {definition.name!r} was started with arguments it does not take: {error}"
            ) from error
        if definition.cls is None:
            self._main = lambda: definition.run(*args)
            return
        try:
            instance = definition.cls()
        except Exception as error:
            self._end(error)
            return
        self._signals = Signals(definition.signals, instance, self._converter)
        self._main = lambda: definition.run(instance, *args)

    def _on_signaled(self, event: HistoryEvent) -> None:
        call = self._signals.receive(event)
        if call is not None:
            self._loop.create_task(self._guard(call.run))

    async def _run_main(self, main: Callable[[], Awaitable[Any]]) -> None:
        result = await self._guard(main)
        if not self._loop.stopped:
            await self._guard(lambda: self._complete(result))

    async def _complete(self, result: Any) -> None:
        what = f"result of workflow {self._definition.name!r}"
        payloads = check_size(self._converter.to_payloads((result,), what=what), what)
        self._context.asked.append(AskedCompletion(payloads))
        self._loop.stopped = True

    async def _guard(self, work: Callable[[], Awaitable[Any]]) -> Any:
        """Do the work; whatever escapes it ends the run (a decision to fail) or the workflow task (a bug)."""
        try:
            return await work()
        except (GeneratorExit, RunIsOver, KeyboardInterrupt):
            raise
        except BaseException as error:
            # The frame of this function tells users nothing.
            self._end(error.with_traceback(error.__traceback__ and error.__traceback__.tb_next))

    def _end(self, error: BaseException) -> None:
        failure = self._converter.failures.to_failure(error)
        if decides_to_fail(error):
            self._context.asked.append(AskedFailure(failure))
        else:
            cause = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE
            self._failed = WorkflowTaskFailed(cause, failure)
        self._loop.stopped = True

    def _report(self, problem: dict[str, Any]) -> None:
        """What asyncio has to say of errors that nobody awaited; said once, not in every replay."""
        if not self._context.over and not self._context.is_replaying:
            _LOG.error("%s", problem.get("message"), exc_info=problem.get("exception"))

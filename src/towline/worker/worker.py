"""The worker, as user code sees it."""

import asyncio
import contextvars
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from typing import Any, Self

import structlog
from structlog.typing import FilteringBoundLogger

from towline import limits
from towline.activity import ActivityDefinition
from towline.client import Client
from towline.clock import Clock
from towline.runtime import WorkflowHandler, WorkflowRegistry
from towline.worker.link import Link
from towline.worker.options import WorkerOptions
from towline.worker.registry import ActivityRegistry
from towline.worker.running import Equipment, RunningWorker
from towline.worker.user_code import Failpoint


class Worker:
    """Takes tasks from a task queue and runs workflows and activities for them.

    `workflows` are classes or functions decorated with `workflow.defn`; `workflow_handler` decides workflow tasks in
    their place. `activities` are functions decorated with `activity.defn`; async ones run on the event loop that `run`
    is called on, others in threads. Only what is given is polled for.

    A slot is taken before a task is: at most `max_concurrent_…` tasks are leased at any moment. `reconnect_initial` and
    `reconnect_max` bound the wait after a failed call. `drain_timeout` is how long running activities may go on after a
    stop was asked for, before they are cancelled. `run_workflows_inline` runs workflow code on the connection's own
    loop rather than in a thread, and `clock` takes the place of the connection's: for simulations and tests.
    `failpoint` is called with "dur/activity/poison/<activity id>" before each activity; if it raises, the attempt fails
    with that error.

    All network work happens on the connection's loop: code that blocks the user's loop stops no poll, no heartbeat of
    another activity, and no drain.

    Raises TypeError or ValueError for arguments that make no sense.
    """

    def __init__(
        self,
        client: Client,
        *,
        task_queue: str,
        workflows: Sequence[Callable[..., Any]] = (),
        activities: Sequence[ActivityDefinition[..., Any] | Callable[..., Any]] = (),
        workflow_handler: WorkflowHandler | None = None,
        identity: str | None = None,
        max_concurrent_activities: int = limits.CONCURRENT_TASKS,
        max_concurrent_workflow_tasks: int = limits.CONCURRENT_TASKS,
        max_concurrent_activity_task_polls: int = limits.POLLERS,
        max_concurrent_workflow_task_polls: int = limits.POLLERS,
        reconnect_initial: timedelta = timedelta(milliseconds=limits.RECONNECT_INITIAL_MS),
        reconnect_max: timedelta = timedelta(milliseconds=limits.RECONNECT_MAXIMUM_MS),
        drain_timeout: timedelta = timedelta(milliseconds=limits.DRAIN_TIMEOUT_MS),
        run_workflows_inline: bool = False,
        clock: Clock | None = None,
        logger: FilteringBoundLogger | None = None,
        failpoint: Failpoint | None = None,
    ) -> None:
        options = WorkerOptions(
            max_concurrent_activities=max_concurrent_activities,
            max_concurrent_workflow_tasks=max_concurrent_workflow_tasks,
            max_concurrent_activity_task_polls=max_concurrent_activity_task_polls,
            max_concurrent_workflow_task_polls=max_concurrent_workflow_task_polls,
            reconnect_initial=reconnect_initial,
            reconnect_max=reconnect_max,
            drain_timeout=drain_timeout,
            run_workflows_inline=run_workflows_inline,
        )
        equipment = Equipment(
            registry=ActivityRegistry(activities),
            workflow_handler=_handler(client, workflows, workflow_handler),
            converter=client.data_converter,
            options=options,
            failpoint=failpoint,
        )
        if not equipment.registry and equipment.workflow_handler is None:
            raise ValueError(
                f"the worker of task queue {task_queue!r} has nothing to run: give it workflows or activities"
            )
        self._connection = client.connection
        link = Link(
            transport=client.connection.transport,
            clock=clock or client.connection.clock,
            namespace=client.namespace,
            task_queue=task_queue,
            identity=identity or client.identity,
            worker_instance_key=client.connection.ids.new_id(),
            reconnect_initial=reconnect_initial,
            reconnect_max=reconnect_max,
            logger=(logger or structlog.get_logger("towline.worker")).bind(task_queue=task_queue),
        )
        self._running = RunningWorker(link, equipment, io_loop=client.connection.loop)
        self._started = False
        self._block: _Block | None = None

    async def run(self) -> None:
        """Work until `shutdown` is called, then drain and return.

        Draining: no task is taken any more, running activities finish and report; after `drain_timeout` they are
        cancelled with WorkerShutdown, and 3 s later they are abandoned. Cancelling this call drains in the same way,
        and CancelledError is raised after it. A second `shutdown` or cancellation cancels the activities at once, a
        third one abandons them.

        Raises WorkerRefused, after the drain, if the server refuses the worker for good (bad credentials, unknown
        namespace), ConnectionClosed if the client is closed (then nothing can be reported: the server runs again what
        was not), and RuntimeError if it is called twice.
        """
        if self._started:
            raise RuntimeError("this worker has run already: make another one")
        self._started = True
        self._connection.hold()
        try:
            await self._run()
        finally:
            self._connection.let_go()

    async def _run(self) -> None:
        over = self._begin(self._running.run(asyncio.get_running_loop(), contextvars.copy_context()))
        cancelled = False
        while True:
            try:
                await asyncio.shield(over)
            except asyncio.CancelledError:
                if over.cancelled() or self._connection.loop.is_closed():
                    raise
                cancelled = True
                self.shutdown()
            else:
                break
        if cancelled:
            raise asyncio.CancelledError

    def shutdown(self) -> None:
        """Have `run` drain and return; a second call cancels the activities that still run, a third abandons them.

        Comes back at once. May be called from any thread and from signal handlers, also before `run`.
        """
        self._running.request_stop()

    async def __aenter__(self) -> Self:
        """Run in the background for as long as the block lasts; if the worker fails, the block is cancelled."""
        self._block = _Block(asyncio.current_task(), asyncio.ensure_future(self.run()))
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        """Drain. Raises what `run` raises."""
        block, self._block = self._block, None
        if block is not None:
            await block.leave(self.shutdown)

    def _begin(self, work: Coroutine[Any, Any, None]) -> "asyncio.Future[None]":
        loop = self._connection.loop
        if asyncio.get_running_loop() is loop:
            return asyncio.ensure_future(work)
        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))


class _Block:
    """An `async with worker` block: the task that it is part of, and the worker's run beside it."""

    def __init__(self, task: "asyncio.Task[Any] | None", run: "asyncio.Task[None]") -> None:
        self._task = task
        self._run = run
        self._cancelled_task = False
        self._left = False
        run.add_done_callback(self._run_ended)

    async def leave(self, shutdown: Callable[[], None]) -> None:
        self._left = True
        if self._cancelled_task and self._task is not None:
            self._task.uncancel()
        if not self._run.done():
            shutdown()
        await self._run

    def _run_ended(self, run: "asyncio.Task[None]") -> None:
        if not self._left and not run.cancelled() and run.exception() is not None and self._task is not None:
            self._cancelled_task = True
            self._task.cancel()


def _handler(
    client: Client, workflows: Sequence[Callable[..., Any]], handler: WorkflowHandler | None
) -> WorkflowHandler | None:
    if handler is not None and workflows:
        raise ValueError("give the worker workflows or a workflow_handler, not both")
    if not workflows:
        return handler
    return WorkflowRegistry(workflows, client.data_converter)

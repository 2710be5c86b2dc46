"""Where activities run: async ones on the user's event loop, sync ones in threads."""

import asyncio
from collections.abc import Callable
from contextvars import Context
from functools import partial
from typing import Any

from towline.activity import ActivityCancelled
from towline.activity.context import current_context
from towline.client.handover import Inbox
from towline.convert import DataConverter
from towline.worker.attempt import Attempt, Completed, Failed, Outcome
from towline.worker.failures import failure_of_activity
from towline.worker.threads import Threads

Failpoint = Callable[[str], None]


class UserCode:
    """Runs attempts. `start` is called on the I/O loop; nothing that the user's code does or raises gets out of here.

    Activities see a copy of the context variables that `Worker.run` was called with. They are no children of its task:
    cancelling that cancels no activity.
    """

    def __init__(
        self,
        *,
        loop: asyncio.AbstractEventLoop,
        context: Context,
        converter: DataConverter,
        threads: Threads,
        failpoint: Failpoint | None,
    ) -> None:
        self.loop = loop
        self._inbox = Inbox(loop)
        self._context = context
        self._converter = converter
        self._threads = threads
        self._failpoint = failpoint
        self._tasks: dict[Attempt, asyncio.Task[Outcome]] = {}

    def start(self, attempt: Attempt) -> None:
        """Run the attempt's function; `attempt.finish` is called with what came out."""
        if attempt.definition.is_async:
            attempt.start(lambda cause: self._inbox.put(partial(self._interrupt, attempt, cause)))
            self._inbox.put(partial(self._start_task, attempt))
        else:
            attempt.start(lambda cause: None)  # its next heartbeat raises the cause
            self._threads.submit(partial(self._context.copy().run, self._run_sync, attempt))

    def _start_task(self, attempt: Attempt) -> None:
        task = self.loop.create_task(self._run_async(attempt), context=self._context.copy())
        self._tasks[attempt] = task
        task.add_done_callback(partial(self._task_done, attempt))

    def _interrupt(self, attempt: Attempt, cause: ActivityCancelled) -> None:
        task = self._tasks.get(attempt)
        if task is not None:
            task.cancel(cause)

    def _task_done(self, attempt: Attempt, task: asyncio.Task[Outcome]) -> None:
        del self._tasks[attempt]
        if task.cancelled():  # before its first step
            attempt.finish(self._failed(attempt, asyncio.CancelledError()))
        else:
            attempt.finish(task.result())

    async def _run_async(self, attempt: Attempt) -> Outcome:
        try:
            return self._completed(await attempt.definition.fn(*self._prepare(attempt)))
        except BaseException as error:
            return self._failed(attempt, error)

    def _run_sync(self, attempt: Attempt) -> None:
        try:
            outcome: Outcome = self._completed(attempt.definition.fn(*self._prepare(attempt)))
        except BaseException as error:
            outcome = self._failed(attempt, error)
        attempt.finish(outcome)

    def _prepare(self, attempt: Attempt) -> list[Any]:
        current_context.set(attempt)
        if self._failpoint is not None:
            self._failpoint(f"dur/activity/poison/{attempt.task.activity_id}")
        return attempt.arguments()

    def _completed(self, result: object) -> Outcome:
        return Completed(self._converter.to_payloads([result], what="result"))

    def _failed(self, attempt: Attempt, error: BaseException) -> Outcome:
        return Failed(failure_of_activity(error, attempt.cancel_cause(), converter=self._converter.failures))

"""Ends what hangs, and says what hangs."""

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from typing import Any, Final

from crash.part import Part
from crash.progress import Progress
from crash.work import Work
from towline.client import Client, PendingActivity, WorkflowExecutionDescription

_DESCRIBED: Final = 10
_DESCRIBE_TIMEOUT_S: Final = 5


class Stuck(Exception):
    """Nothing moves any more; the message says what does not."""


class Watchdog:
    """Lets work go on for as long as workflows close and no part ends by itself."""

    def __init__(self, parts: Sequence[Part], progress: Progress, *, patience_s: float) -> None:
        self._parts = parts
        self._progress = progress
        self._patience_s = patience_s

    async def guard(self, work: Coroutine[Any, Any, object]) -> None:
        """Do the work. Raises what it raises, PartFault, and Stuck if no workflow has closed for `patience_s`."""
        working = asyncio.ensure_future(work)
        stalled = asyncio.ensure_future(self._stalled())
        try:
            waited: list[asyncio.Future[Any]] = [working, stalled, *(part.fault for part in self._parts)]
            done, _ = await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            for future in done:
                await future
        finally:
            for task in (working, stalled):
                task.cancel()
            await asyncio.gather(working, stalled, return_exceptions=True)

    async def _stalled(self) -> None:
        progress = self._progress
        while True:
            closed = progress.closed
            try:
                async with asyncio.timeout(self._patience_s):
                    await progress.wait_for(lambda closed=closed: progress.closed > closed)  # type: ignore[misc]
            except TimeoutError:
                raise Stuck(
                    f"no workflow closed for {self._patience_s} s: {progress.started} of {progress.total} were "
                    f"started, {closed} have closed"
                ) from None


async def explain(work: Work, client: Client, parts: Sequence[Part]) -> str:
    """What the open workflows wait for, how the processes are, and what those said last."""
    open_ids = [job.workflow_id for job in work.jobs if job.workflow_id not in work.results]
    lines = [f"{len(open_ids)} workflows have not closed, or were not started:"]
    for workflow_id in open_ids[:_DESCRIBED]:
        lines += [f"  {line}" for line in await _described(client, workflow_id)]
    lines += [f"  and {len(open_ids) - _DESCRIBED} more"] if len(open_ids) > _DESCRIBED else []
    return "\n".join([*lines, *(part.last_words(part.state()) for part in parts)])


async def _described(client: Client, workflow_id: str) -> list[str]:
    try:
        async with asyncio.timeout(_DESCRIBE_TIMEOUT_S):
            return list(_lines(await client.get_workflow_handle(workflow_id).describe()))
    except Exception as error:  # the report goes on, whatever is wrong with one of them
        return [f"{workflow_id}: {error!r}"]


def _lines(run: WorkflowExecutionDescription) -> Iterator[str]:
    yield f"{run.id} run {run.run_id}: {run.status.name}, {run.execution.history_length} events"
    task = run.pending_workflow_task
    if task is not None:
        yield (
            f"  workflow task: attempt {task.attempt}, {_stands(started=task.started)}, "
            f"next {task.next_attempt_time}, last failure {task.last_failure!r}"
        )
    yield from (_activity(pending) for pending in run.pending_activities)


def _activity(pending: PendingActivity) -> str:
    return (
        f"  activity {pending.activity_id} {pending.activity_type}: attempt {pending.attempt}, "
        f"{_stands(started=pending.started)} at {pending.last_worker_identity or 'nobody'}, "
        f"next {pending.next_attempt_time}, last failure {pending.last_failure!r}"
    )


def _stands(*, started: bool) -> str:
    return "started" if started else "waits"

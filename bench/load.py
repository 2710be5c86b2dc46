"""The client's side: so many runs of a case, so many at a time, every result looked at."""

import asyncio
import time
from collections.abc import Iterator

from bench.app import TASK_QUEUE
from bench.cases import Case
from towline.client import Client


class WrongResult(Exception):
    """A workflow gave something else than it must: the measurement is worth nothing."""


class Load:
    """Runs of one case through one client. Workflow ids and arguments go on counting from one drive to the next."""

    def __init__(self, client: Client, case: Case) -> None:
        self._client = client
        self._case = case
        self._next = 0

    async def drive(self, count: int, concurrency: int) -> list[int]:
        """Run `count` workflows; gives how long each took, in nanoseconds.

        Raises WrongResult, WorkflowFailureError, RpcError: the first one stops the drive.
        """
        numbers = iter(range(self._next, self._next + count))
        self._next += count
        durations_ns: list[int] = []
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(concurrency, count)):
                    group.create_task(self._lane(numbers, durations_ns))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        if len(durations_ns) != count:
            raise WrongResult(f"{count} {self._case.name} workflows were started and {len(durations_ns)} ended")
        return durations_ns

    async def _lane(self, numbers: Iterator[int], durations_ns: list[int]) -> None:
        for number in numbers:
            began = time.perf_counter_ns()
            await self._run(number)
            durations_ns.append(time.perf_counter_ns() - began)

    async def _run(self, number: int) -> None:
        case = self._case
        workflow_id = f"{case.name}-{number}"
        result = await self._client.execute_workflow(
            case.workflow, case.argument(number), id=workflow_id, task_queue=TASK_QUEUE
        )
        if result != case.expected(number):
            raise WrongResult(f"{workflow_id} gave {result!r}, it must give {case.expected(number)!r}")

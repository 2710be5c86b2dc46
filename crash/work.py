"""The work: folders of files, one workflow for each, all of them driven to their end through one client."""

import asyncio
import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from crash.app import TASK_QUEUE, TASK_TIMEOUT, crash_ingest
from examples.ingest.model import FileStats, IngestRequest, Summary
from towline.client import Client, RpcError, WorkflowFailureError, WorkflowHandle

_FILES: Final = 3
_LINES: Final = 400
_CHUNK_BYTES: Final = 1024


@dataclass(frozen=True, slots=True)
class Job:
    """One workflow, and what it must come to."""

    workflow_id: str
    request: IngestRequest
    files: list[FileStats]

    def keys(self) -> set[str]:
        """The idempotency keys of its activities: reserve, list, one for each file, report."""
        return {f"{self.workflow_id}/{number}" for number in range(1, len(self.files) + 4)}

    def reads(self) -> list[tuple[str, FileStats]]:
        """What must stand under the keys of the activities that read a file."""
        return [(f"{self.workflow_id}/{number}", stats) for number, stats in enumerate(self.files, start=3)]

    def right(self, summary: Summary) -> bool:
        """It is what was to be."""
        return (summary.files, summary.failures, summary.size_bytes, summary.lines) == (
            len(self.files),
            0,
            sum(stats.size_bytes for stats in self.files),
            sum(stats.lines for stats in self.files),
        )


def make_job(number: int, folder: Path, randomness: random.Random) -> Job:
    """Write the files of a workflow."""
    workflow_id = f"ingest-{number}"
    source = folder / "files" / workflow_id
    source.mkdir(parents=True)
    files = []
    for index in range(_FILES):
        lines = randomness.randrange(1, _LINES)
        content = b"".join(b"%d\n" % randomness.getrandbits(64) for _ in range(lines))
        (source / f"{index}.txt").write_bytes(content)
        files.append(FileStats(f"{index}.txt", len(content), lines, hashlib.sha256(content).hexdigest()))
    return Job(workflow_id, IngestRequest(str(source), str(folder / "out" / workflow_id), _CHUNK_BYTES), files)


class Work:
    """All jobs. `results` has those that ended: what they gave, or how they failed."""

    def __init__(self, client: Client, jobs: list[Job]) -> None:
        self.jobs = jobs
        self.results: dict[str, Summary | WorkflowFailureError] = {}
        self.moved = asyncio.Condition()
        self._client = client

    def progress(self) -> float:
        """The share of the jobs that ended."""
        return len(self.results) / len(self.jobs)

    async def run(self, at_once: int) -> None:
        """Drive every job to its end, so many at a time."""
        rest = iter(self.jobs)
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(self._lane(rest))

    async def _lane(self, rest: Iterator[Job]) -> None:
        for job in rest:
            result = await self._drive(job)
            async with self.moved:
                self.results[job.workflow_id] = result
                self.moved.notify_all()

    async def _drive(self, job: Job) -> Summary | WorkflowFailureError:
        while True:
            try:
                handle = await self._start(job)
                return await handle.result()
            except WorkflowFailureError as failure:
                return failure
            except RpcError:
                continue  # the server was away for longer than the client is patient; starting again is safe

    async def _start(self, job: Job) -> WorkflowHandle[Summary]:
        return await self._client.start_workflow(
            crash_ingest,
            job.request,
            id=job.workflow_id,
            task_queue=TASK_QUEUE,
            task_timeout=TASK_TIMEOUT,
            request_id=job.workflow_id,
        )

"""The work: folders of files, one workflow for each, all of them driven to their end through one client."""

import asyncio
import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from crash.app import RESERVED, TASK_QUEUE, TASK_TIMEOUT, crash_ingest
from crash.progress import Progress
from crash.scenario import KINDS, file_name
from examples.ingest.model import FileStats, IngestRequest, Report, Summary
from examples.ingest.report import JSON_NAME, TEXT_NAME
from towline.client import Client, RpcError, WorkflowFailureError, WorkflowHandle
from towline.status import Status

_FILES: Final = 3
_LINES: Final = range(200, 1_200)
_CHUNK_BYTES: Final = 2048
# The server is away for longer than the client is patient, or it died with the answer.
_AWAY: Final = frozenset({Status.UNAVAILABLE, Status.ABORTED, Status.DEADLINE_EXCEEDED})


@dataclass(frozen=True, slots=True)
class Job:
    """One workflow, and what it must come to: worked out from the files, without Towline."""

    workflow_id: str
    request: IngestRequest
    files: list[FileStats]

    @property
    def report(self) -> Report:
        """What its report must say."""
        return Report(self.request.folder, files=self.files)

    @property
    def summary(self) -> Summary:
        """What it must give."""
        output = Path(self.request.output)
        return Summary(
            files=len(self.files),
            failures=0,
            size_bytes=sum(stats.size_bytes for stats in self.files),
            lines=sum(stats.lines for stats in self.files),
            report_json=str(output / JSON_NAME),
            report_text=str(output / TEXT_NAME),
        )

    @property
    def failing_key(self) -> str:
        """The idempotency key of the activity that always fails once."""
        return f"{self.workflow_id}/1"

    def effects(self) -> dict[str, Any]:
        """What each activity must have left under its idempotency key, as JSON has it."""
        effects = [RESERVED, [stats.path for stats in self.files], *self.files, self.summary]
        return {
            f"{self.workflow_id}/{number}": msgspec.to_builtins(effect)
            for number, effect in enumerate(effects, start=1)
        }


def make_job(number: int, folder: Path, randomness: random.Random) -> Job:
    """Write the files of a workflow."""
    workflow_id = f"crash-{number}"
    source = folder / "files" / workflow_id
    source.mkdir(parents=True)
    files = []
    for index in range(1, _FILES + 1):
        lines = randomness.choice(_LINES)
        content = b"".join(b"%d\n" % randomness.getrandbits(64) for _ in range(lines))
        name = file_name(index, kind=randomness.choice(KINDS))
        (source / name).write_bytes(content)
        files.append(FileStats(name, len(content), lines, hashlib.sha256(content).hexdigest()))
    return Job(workflow_id, IngestRequest(str(source), str(folder / "out" / workflow_id), _CHUNK_BYTES), files)


class Work:
    """All jobs. `results` has those that closed: what they gave, or how they failed."""

    def __init__(self, client: Client, jobs: list[Job], progress: Progress) -> None:
        self.jobs = jobs
        self.results: dict[str, Summary | WorkflowFailureError] = {}
        self.client_gave_up = 0  # how often a call had to be made again by us
        self._client = client
        self.progress = progress

    async def run(self, at_once: int) -> None:
        """Drive every job to its end, so many at a time. Raises TowlineError for what no restart explains."""
        rest = iter(self.jobs)
        async with asyncio.TaskGroup() as group:
            for _ in range(at_once):
                group.create_task(self._lane(rest))

    async def _lane(self, rest: Iterator[Job]) -> None:
        for job in rest:
            await self.progress.start_one()
            self.results[job.workflow_id] = await self._drive(job)
            await self.progress.close_one()

    async def _drive(self, job: Job) -> Summary | WorkflowFailureError:
        while True:
            try:
                result = await (await self._start(job)).result()
                await self._start(job)  # as one who never got the answer would: it must not run again
                return result
            except WorkflowFailureError as failure:
                return failure
            except RpcError as error:
                if error.status not in _AWAY:
                    raise
                self.client_gave_up += 1  # starting again is safe: the request id is the same

    async def _start(self, job: Job) -> WorkflowHandle[Summary]:
        return await self._client.start_workflow(
            crash_ingest,
            job.request,
            id=job.workflow_id,
            task_queue=TASK_QUEUE,
            task_timeout=TASK_TIMEOUT,
            request_id=f"start {job.workflow_id}",
        )

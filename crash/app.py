"""The workflow that must survive, and its worker: the steps of examples/ingest, made to fail now and then, and slow."""

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

import msgspec

from crash.attempts import Attempts
from crash.scenario import fails_once, pause_s
from examples.ingest import activities as ingest
from examples.ingest.activities import effects_of
from examples.ingest.model import Checkpoint, FileStats, IngestRequest, Report, Summary
from examples.ingest.scan import scan
from towline import activity, workflow
from towline.worker import WorkerConfig

P = ParamSpec("P")
R = TypeVar("R")

TASK_QUEUE: Final = "crash"
RESERVED: Final = "reserved"
# How long a workflow task stays with a worker that was killed; an activity stays for as long as its heartbeat time-out.
TASK_TIMEOUT: Final = timedelta(seconds=2)
_HEARTBEAT_TIMEOUT: Final = timedelta(seconds=1)
_RECONNECT_MAX: Final = timedelta(milliseconds=500)


class Hiccup(Exception):
    """What goes wrong once, and not again."""


def durable(fn: Callable[P, R]) -> activity.ActivityDefinition[P, R]:
    """An activity that another worker takes up soon after its worker was killed, and for as often as it takes."""
    return activity.defn(
        start_to_close_timeout=timedelta(seconds=60),
        heartbeat_timeout=_HEARTBEAT_TIMEOUT,
        retry_policy=activity.RetryPolicy(
            initial_interval=timedelta(milliseconds=100), maximum_interval=timedelta(seconds=1)
        ),
    )(fn)


@durable
def reserve(request: IngestRequest) -> str:
    """Fails at its first attempt, always; the second one goes on from the heartbeat that the failure brought along."""
    info = activity.info()
    resumed = info.heartbeat_details
    _begin(request, resumed=bool(resumed))
    if info.attempt == 1:
        activity.heartbeat(RESERVED)
        raise Hiccup(f"{info.idempotency_key} fails once")
    return effects_of(request).put(info.idempotency_key, str(resumed[0] if resumed else RESERVED))


@durable
def list_files(request: IngestRequest) -> list[str]:
    """As in the example."""
    _begin(request, resumed=False)
    activity.heartbeat()
    return ingest.list_files.fn(request)


@durable
def read_file(request: IngestRequest, path: str) -> FileStats:
    """`ingest_file` of the example, with a pause at each chunk. Some files make the first attempt fail half-way."""
    info, effects = activity.info(), effects_of(request)
    resume = msgspec.convert(info.heartbeat_details[0], Checkpoint) if info.heartbeat_details else None
    _begin(request, resumed=resume is not None and resume.position > 0)
    done = effects.get(info.idempotency_key, FileStats)
    if done is not None:
        return done

    def note(checkpoint: Checkpoint) -> None:
        activity.heartbeat(checkpoint)
        if info.attempt == 1 and fails_once(path) and checkpoint.position * 2 >= checkpoint.file_bytes:
            raise Hiccup(f"{path} cannot be read at byte {checkpoint.position}, this time")
        time.sleep(pause_s(path))

    stats = scan(Path(request.folder), path, chunk_bytes=request.chunk_bytes, resume=resume, note=note)
    return effects.put(info.idempotency_key, stats)


@durable
def write_report(request: IngestRequest, report: Report) -> Summary:
    """As in the example."""
    _begin(request, resumed=False)
    activity.heartbeat()
    return ingest.write_report.fn(request, report)


def _begin(request: IngestRequest, *, resumed: bool) -> None:
    """Note the attempt; `resumed`: it goes on from a heartbeat of an earlier one."""
    info = activity.info()
    Attempts(Path(request.output)).begin(
        info.idempotency_key, attempt=info.attempt, token=info.task_token, resumed=resumed
    )


@workflow.defn(name="CrashIngest")
async def crash_ingest(request: IngestRequest) -> Summary:
    """Reserve, list, read every file at the same time, report."""
    await workflow.execute_activity(reserve, request)
    paths = await workflow.execute_activity(list_files, request)
    stats = await asyncio.gather(*(workflow.execute_activity(read_file, request, path) for path in paths))
    return await workflow.execute_activity(write_report, request, Report(request.folder, files=stats))


worker = WorkerConfig(
    task_queue=TASK_QUEUE,
    workflows=[crash_ingest],
    activities=[reserve, list_files, read_file, write_report],
    max_concurrent_activities=16,
    max_concurrent_activity_task_polls=8,
    max_concurrent_workflow_task_polls=8,
    reconnect_max=_RECONNECT_MAX,
)

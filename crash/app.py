"""The workflow that must survive, and its worker: the steps of examples/ingest, made slow enough to be hit."""

import asyncio
import time
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import msgspec

from examples.ingest.activities import effects_of, list_files, write_report
from examples.ingest.model import Checkpoint, FileStats, IngestRequest, Report, Summary
from examples.ingest.scan import scan
from towline import activity, workflow
from towline.worker import WorkerConfig

TASK_QUEUE: Final = "crash"
# A worker that is killed holds a task for this long at most.
TASK_TIMEOUT: Final = timedelta(seconds=2)
_CHUNK_SECONDS: Final = 0.02
_RETRY: Final = activity.RetryPolicy(
    initial_interval=timedelta(milliseconds=100), maximum_interval=timedelta(seconds=1)
)


class Hiccup(Exception):
    """What goes wrong once, and not again."""


@activity.defn(start_to_close_timeout=TASK_TIMEOUT, retry_policy=_RETRY)
def reserve(request: IngestRequest) -> str:
    """Fails at its first attempt, always."""
    info = activity.info()
    if info.attempt == 1:
        raise Hiccup(f"{info.idempotency_key} fails once")
    return effects_of(request).put(info.idempotency_key, "reserved")


@activity.defn(start_to_close_timeout=timedelta(minutes=5), heartbeat_timeout=timedelta(seconds=1), retry_policy=_RETRY)
def read_slowly(request: IngestRequest, path: str) -> FileStats:
    """`ingest_file` of the example, with a pause at each chunk; goes on from where the last heartbeat was."""
    key, effects = activity.info().idempotency_key, effects_of(request)
    done = effects.get(key, FileStats)
    if done is not None:
        return done

    def note(checkpoint: Checkpoint) -> None:
        activity.heartbeat(checkpoint)
        time.sleep(_CHUNK_SECONDS)

    details = activity.info().heartbeat_details
    resume = msgspec.convert(details[0], Checkpoint) if details else None
    stats = scan(Path(request.folder), path, chunk_bytes=request.chunk_bytes, resume=resume, note=note)
    return effects.put(key, stats)


@workflow.defn(name="CrashIngest")
async def crash_ingest(request: IngestRequest) -> Summary:
    """Reserve, list, read every file at the same time, report."""
    short: dict[str, Any] = {"start_to_close_timeout": TASK_TIMEOUT, "retry_policy": _RETRY}
    await workflow.execute_activity(reserve, request)
    paths = await workflow.execute_activity(list_files, request, **short)
    stats = await asyncio.gather(*(workflow.execute_activity(read_slowly, request, path) for path in paths))
    return await workflow.execute_activity(write_report, request, Report(request.folder, files=stats), **short)


worker = WorkerConfig(
    task_queue=TASK_QUEUE,
    workflows=[crash_ingest],
    activities=[reserve, list_files, read_slowly, write_report],
    max_concurrent_activities=16,
    max_concurrent_activity_task_polls=8,
    max_concurrent_workflow_task_polls=8,
)

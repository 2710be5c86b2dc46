"""The steps of an ingest: list the folder, read each file, write the report. All sync: they run in threads."""

from datetime import timedelta
from pathlib import Path

import msgspec

from examples.ingest.effects import Effects
from examples.ingest.model import Checkpoint, FileStats, IngestRequest, Report, Summary
from examples.ingest.report import summarize, write_files
from examples.ingest.scan import scan
from towline import activity

# Errors that another attempt would only meet again. Others, such as a disk that hiccups, are worth a few.
_HOPELESS = ("NotText", "FileNotFoundError", "IsADirectoryError", "PermissionError")
_RETRY = activity.RetryPolicy(maximum_attempts=5, non_retryable_error_types=_HOPELESS)
# Short, so that a dead worker is noticed soon and little is read twice: a heartbeat goes out at 80 % of it.
_HEARTBEAT_TIMEOUT = timedelta(seconds=3)


@activity.defn(start_to_close_timeout=timedelta(minutes=1), retry_policy=_RETRY)
def list_files(request: IngestRequest) -> list[str]:
    """The text files to be: every file below the folder that is not hidden, by relative path, in order."""
    key, effects = activity.info().idempotency_key, effects_of(request)
    listed = effects.get(key, list[str])
    if listed is not None:
        return listed
    folder, output = Path(request.folder), Path(request.output)
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is no folder: name one that the worker can read")
    paths = [path for path in folder.rglob("*") if path.is_file() and not path.is_relative_to(output)]
    relative = [path.relative_to(folder) for path in paths]
    return effects.put(key, sorted(str(path) for path in relative if not any(part[0] == "." for part in path.parts)))


@activity.defn(start_to_close_timeout=timedelta(hours=1), heartbeat_timeout=_HEARTBEAT_TIMEOUT, retry_policy=_RETRY)
def ingest_file(request: IngestRequest, path: str) -> FileStats:
    """Size, line count and SHA-256 of one file; goes on from where an earlier attempt's last heartbeat was."""
    key, effects = activity.info().idempotency_key, effects_of(request)
    done = effects.get(key, FileStats)
    if done is not None:
        return done
    stats = scan(
        Path(request.folder), path, chunk_bytes=request.chunk_bytes, resume=_last_checkpoint(), note=activity.heartbeat
    )
    return effects.put(key, stats)


@activity.defn(start_to_close_timeout=timedelta(minutes=1), retry_policy=_RETRY)
def write_report(request: IngestRequest, report: Report) -> Summary:
    """The report as JSON and as a table, in the output folder."""
    key, effects = activity.info().idempotency_key, effects_of(request)
    done = effects.get(key, Summary)
    if done is not None:
        return done
    output = Path(request.output)
    write_files(report, output)
    return effects.put(key, summarize(report, output))


def effects_of(request: IngestRequest) -> Effects:
    """Where the activities of this request leave their effects."""
    return Effects(Path(request.output) / "effects")


def _last_checkpoint() -> Checkpoint | None:
    details = activity.info().heartbeat_details
    return msgspec.convert(details[0], Checkpoint) if details else None

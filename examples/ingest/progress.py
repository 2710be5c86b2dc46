"""A progress bar for an ingest: what is done from its history, what is being read from its heartbeats."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from examples.ingest.activities import ingest_file
from examples.ingest.model import Checkpoint, IngestRequest, Summary
from towline.api.history_pb2 import HistoryEvent
from towline.client import Client, PendingActivity, WorkflowHandle

# How often the server is asked for heartbeats. People do not see faster changes.
_INTERVAL_S: Final = 0.2
# Bars for single files, besides the one for all.
_BARS: Final = 8


async def follow(client: Client, handle: WorkflowHandle[Summary], request: IngestRequest) -> Summary:
    """Show how far the run is until it closes. Gives back its result; raises what `handle.result` raises."""
    with progress_bars(Console(stderr=True)) as progress:
        bars = Bars(progress, handle.id)
        closed = asyncio.ensure_future(_follow_history(client, handle, bars, folder=Path(request.folder)))
        try:
            while not closed.done():
                bars.show((await handle.describe()).pending_activities)
                await asyncio.wait([closed], timeout=_INTERVAL_S)
        finally:
            closed.cancel()
    return await handle.result()


async def _follow_history(client: Client, handle: WorkflowHandle[Summary], bars: "Bars", *, folder: Path) -> None:
    async for event in handle.fetch_history_events(wait_new_event=True):
        match event.WhichOneof("attributes"):
            case "activity_task_scheduled" if event.activity_task_scheduled.activity_type == ingest_file.name:
                path = _path_of(client, event)
                bars.scheduled(event.event_id, size_bytes=await asyncio.to_thread(_size_bytes, folder / path))
            case "activity_task_completed":
                bars.closed(event.activity_task_completed.scheduled_event_id)
            case "activity_task_failed":
                bars.closed(event.activity_task_failed.scheduled_event_id)
            case "activity_task_timed_out":
                bars.closed(event.activity_task_timed_out.scheduled_event_id)


def progress_bars(console: Console) -> Progress:
    """The bars, empty."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=None),
        DownloadColumn(binary_units=True),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
        expand=True,
    )


class Bars:
    """One bar for all files together, and one for each of the first few that are being read."""

    def __init__(self, progress: Progress, title: str) -> None:
        self._progress = progress
        self._title = title
        self._total = progress.add_task(title, total=None)
        self._bars: dict[str, TaskID] = {}
        self._open: dict[int, int] = {}  # size in bytes by scheduled event id
        self._closed: list[int] = []  # sizes in bytes

    def scheduled(self, event_id: int, *, size_bytes: int) -> None:
        """A file is to be ingested."""
        self._open[event_id] = size_bytes

    def closed(self, scheduled_event_id: int) -> None:
        """A file is ingested, or has failed. Other activities are none of our business."""
        if scheduled_event_id in self._open:
            self._closed.append(self._open.pop(scheduled_event_id))

    def show(self, pending: Sequence[PendingActivity]) -> None:
        """Bring the bars up to what the server knows of the activities that have not closed."""
        reading = {found.path: found for activity in pending for found in _checkpoints(activity)}
        done = sum(self._closed) + sum(checkpoint.position for checkpoint in reading.values())
        count = len(self._closed) + len(self._open)
        self._progress.update(
            self._total,
            description=f"{self._title}  {len(self._closed)} of {count} files" if count else self._title,
            total=sum(self._closed) + sum(self._open.values()) if count else None,
            completed=done,
        )
        self._show_files(list(reading.values())[:_BARS])

    def _show_files(self, reading: list[Checkpoint]) -> None:
        for path in self._bars.keys() - {checkpoint.path for checkpoint in reading}:
            self._progress.remove_task(self._bars.pop(path))
        for checkpoint in reading:
            if checkpoint.path not in self._bars:
                self._bars[checkpoint.path] = self._progress.add_task(f"  {checkpoint.path}")
            self._progress.update(
                self._bars[checkpoint.path], total=checkpoint.file_bytes, completed=checkpoint.position
            )


def _checkpoints(activity: PendingActivity) -> list[Checkpoint]:
    return [msgspec.convert(details, Checkpoint) for details in activity.heartbeat_details[:1]]


def _path_of(client: Client, event: HistoryEvent) -> str:
    _, path = client.data_converter.from_payloads(event.activity_task_scheduled.input, [IngestRequest, str])
    return str(path)


def _size_bytes(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0

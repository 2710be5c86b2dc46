"""Runs in memory: a bounded cache. Memory is never the truth (law 1): forgetting a run costs a read, nothing else."""

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Any

from towline.api.history_pb2 import History
from towline.core.apply import fold
from towline.core.state import Run
from towline.server.blobs import Blob, split_blobs
from towline.store.api import RunRow, StoredRun


@dataclass(slots=True)
class LiveRun:
    """One run, what is known of it, and what waits to be decided on it."""

    run_id: str
    run: Run | None = None  # None: to be loaded. Between commits it is what the store has.
    row: RunRow | None = None  # as committed
    blobs: list[Blob] | None = None  # the whole history, or None: too large to keep, read it from the store
    blob_bytes: int = 0
    waiting: deque[Any] = field(default_factory=deque)
    busy: bool = False

    def load(self, stored: StoredRun) -> None:
        """Take over what the store has."""
        histories = [History.FromString(blob) for blob in stored.blobs]
        state = fold(event for history in histories for event in history.events)
        self.run = Run(state, {row.task_id: row for row in stored.tasks})
        self.row = stored.row
        self.blobs = split_blobs(histories, stored.blobs)
        self.blob_bytes = sum(len(blob.data) for blob in self.blobs)

    def forget(self) -> None:
        """The memory of it may be wrong: load it again before the next decision."""
        self.run = None
        self.row = None
        self.blobs = None
        self.blob_bytes = 0

    def idle(self) -> bool:
        """Nothing waits and nothing runs: it may be dropped."""
        return not self.busy and not self.waiting


class LiveRuns:
    """The runs in memory, the least recently used dropped first."""

    def __init__(self, *, limit: int, history_limit_bytes: int) -> None:
        self._limit = limit
        self._history_limit_bytes = history_limit_bytes
        self._history_bytes = 0
        self._runs: OrderedDict[str, LiveRun] = OrderedDict()

    def __len__(self) -> int:
        return len(self._runs)

    def get(self, run_id: str) -> LiveRun:
        """The run's place in memory, a new and empty one if it had none."""
        live = self._runs.get(run_id)
        if live is None:
            live = LiveRun(run_id)
            self._evict()
            self._runs[run_id] = live
        else:
            self._runs.move_to_end(run_id)
        return live

    def peek(self, run_id: str) -> LiveRun | None:
        """The run if it is in memory."""
        return self._runs.get(run_id)

    def account(self, before_bytes: int, after_bytes: int) -> None:
        """A run's history in memory changed its size."""
        self._history_bytes += after_bytes - before_bytes
        if self._history_bytes > self._history_limit_bytes:
            self._evict()

    def drop(self, run_id: str) -> None:
        """Forget a run unless something is going on with it."""
        live = self._runs.get(run_id)
        if live is not None and live.idle():
            self._remove(live)

    def _evict(self) -> None:
        """Drop idle runs, the oldest first, until both limits hold. Busy ones stay: they are bounded by the callers."""
        for _ in range(len(self._runs)):
            if len(self._runs) <= self._limit and self._history_bytes <= self._history_limit_bytes:
                return
            run_id, live = next(iter(self._runs.items()))
            if live.idle():
                self._remove(live)
            else:
                self._runs.move_to_end(run_id)

    def _remove(self, live: LiveRun) -> None:
        del self._runs[live.run_id]
        self._history_bytes -= live.blob_bytes

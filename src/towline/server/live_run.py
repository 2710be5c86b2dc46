"""Runs in memory: a bounded cache. Memory is never the truth (law 1): forgetting a run costs a read, nothing else."""

from collections import OrderedDict, deque
from dataclasses import dataclass, field

from towline.api.history_pb2 import History
from towline.core.apply import fold
from towline.core.state import Run
from towline.server.asked import Asked
from towline.server.blobs import Blob, split_blobs
from towline.store.api import RunRow, StoredRun


@dataclass(slots=True)
class LiveRun:
    """One run, what is known of it, and what waits to be decided on it."""

    run_id: str
    run: Run | None = None  # None: to be loaded. Between commits it is what the store has.
    row: RunRow | None = None  # as committed
    blobs: list[Blob] | None = None  # the whole history, or None: too large to keep, read it from the store
    waiting: deque[Asked] = field(default_factory=deque)
    busy: bool = False  # somebody serves it
    size_bytes: int = 0  # what it was last accounted for

    def load(self, stored: StoredRun) -> None:
        """Take over what the store has."""
        histories = [History.FromString(blob) for blob in stored.blobs]
        state = fold(event for history in histories for event in history.events)
        self.run = Run(state, {row.task_id: row for row in stored.tasks})
        self.row = stored.row
        self.blobs = split_blobs(histories, stored.blobs)

    def advance(self, run: Run, *, row: RunRow, blob: Blob | None) -> None:
        """Take over what was just committed."""
        if self.run is None:
            self.blobs = []
        self.run, self.row = run, row
        if blob is not None and self.blobs is not None:
            self.blobs.append(blob)

    def forget(self) -> None:
        """The memory of it may be wrong: load it again before the next decision."""
        self.run = self.row = self.blobs = None

    def measure(self) -> int:
        """About how much memory it takes, in bytes. The state holds no more of the events than they are long."""
        if self.run is None or self.row is None:
            return 0
        blobs = sum(len(blob.data) for blob in self.blobs or ())
        details = sum(len(task.details) for task in self.run.tasks.values())
        return blobs + self.row.history_size_bytes + details


class LiveRuns:
    """The runs in memory, the least recently used dropped first. Busy ones stay: the callers bound their number."""

    def __init__(self, *, limit: int, limit_bytes: int, history_limit_bytes: int) -> None:
        self._limit = limit
        self._limit_bytes = limit_bytes
        self._history_limit_bytes = history_limit_bytes
        self._size_bytes = 0
        self._busy: dict[str, LiveRun] = {}
        self._idle: OrderedDict[str, LiveRun] = OrderedDict()

    def __len__(self) -> int:
        return len(self._busy) + len(self._idle)

    def peek(self, run_id: str) -> LiveRun | None:
        """The run if it is in memory."""
        return self._busy.get(run_id) or self._idle.get(run_id)

    def take(self, run_id: str) -> LiveRun:
        """The run, to be served: until it is put back it stays. A new and empty one if it was not in memory."""
        live = self._busy.get(run_id)
        if live is None:
            live = self._idle.pop(run_id) if run_id in self._idle else LiveRun(run_id)
            self._busy[run_id] = live
        return live

    def account(self, live: LiveRun) -> None:
        """The run changed."""
        size_bytes = live.measure()
        if live.blobs is not None and size_bytes > self._history_limit_bytes:
            live.blobs = None
            size_bytes = live.measure()
        self._account(live, size_bytes)

    def put_back(self, live: LiveRun) -> None:
        """Nothing goes on with the run any more: it may be dropped, if it must."""
        live.busy = False
        del self._busy[live.run_id]
        if live.run is not None:
            self._idle[live.run_id] = live
        while self._idle and (len(self) > self._limit or self._size_bytes > self._limit_bytes):
            _, oldest = self._idle.popitem(last=False)
            self._account(oldest, 0)

    def drop(self, run_id: str) -> None:
        """Forget a run unless something is going on with it."""
        live = self._idle.pop(run_id, None)
        if live is not None:
            self._account(live, 0)

    def _account(self, live: LiveRun, size_bytes: int) -> None:
        self._size_bytes += size_bytes - live.size_bytes
        live.size_bytes = size_bytes

"""Decisions about one run, made one after another, on their way into one batch."""

from collections.abc import Iterable

from towline.core.apply import apply, perform
from towline.core.decision import AckTask, ChangeTask, ClearTimer, Decision, PutTask, SetTimer
from towline.core.state import Run, RunState
from towline.core.task import TaskRow, TimerRow
from towline.server.blobs import Blob, encode_event
from towline.store.api import Batch, RunRow


def run_row(state: RunState, *, revision: int) -> RunRow:
    """The run at a glance."""
    return RunRow(
        namespace=state.namespace,
        workflow_id=state.workflow_id,
        run_id=state.run_id,
        workflow_type=state.workflow_type,
        task_queue=state.task_queue,
        status=state.status,
        start_request_id=state.start_request_id,
        start_time_ms=state.start_time_ms,
        close_time_ms=state.close_time_ms,
        last_event_id=state.last_event_id,
        history_size_bytes=state.history_size_bytes,
        revision=revision,
    )


class Work:
    """Takes decisions in, applies each to the run, and gives back what is to be committed.

    `revision` is the one that the run has in the store; 0: it is not there.
    The run in memory runs ahead of the store until the batch is committed; where that fails it must be forgotten.
    """

    def __init__(self, run: Run | None, *, revision: int, replaces_run_id: str = "") -> None:
        self.run = run
        self.size_bytes = 0
        self._revision = revision
        self._last_event_id = run.state.last_event_id if run else 0
        self._replaces_run_id = replaces_run_id
        self._events: list[bytes] = []
        self._put: dict[str, TaskRow] = {}
        self._acked: dict[str, TaskRow] = {}
        self._timers: dict[tuple[str, str], TimerRow | None] = {}

    def take(self, decision: Decision) -> None:
        """Apply a decision to the run and keep it for the batch."""
        state = self.run.state if self.run else None
        for event in decision.events:
            encoded = encode_event(event)
            self._events.append(encoded)
            self.size_bytes += len(encoded)
            state = apply(state, event)
        if self.run is None and state is not None:
            self.run = Run(state)
        if self.run is not None and decision.effects:
            perform(self.run.tasks, decision.effects)
        for effect in decision.effects:
            self._keep(effect)

    def empty(self) -> bool:
        """There is nothing to commit."""
        return not (self._events or self._put or self._acked or self._timers)

    def blob(self) -> Blob | None:
        """The new events."""
        if not self._events:
            return None
        last = self._last_event_id
        return Blob(last + 1, last + len(self._events), b"".join(self._events))

    def batch(self, blob: Blob | None) -> Batch:
        """All of it."""
        assert self.run is not None
        return Batch(
            run=run_row(self.run.state, revision=self._revision + 1),
            replaces_run_id=self._replaces_run_id,
            first_event_id=blob.first_event_id if blob else 0,
            events=blob.data if blob else b"",
            tasks_put=list(self._put.values()),
            tasks_acked=list(self._acked.values()),
            timers_set=[row for row in self._timers.values() if row is not None],
            timers_cleared=[key for key, row in self._timers.items() if row is None],
        )

    def tasks(self) -> list[TaskRow]:
        """The rows that were put or changed, as they are now."""
        return list(self._put.values())

    def acked(self) -> list[TaskRow]:
        """The rows that are gone."""
        return list(self._acked.values())

    def timers(self) -> Iterable[tuple[tuple[str, str], TimerRow | None]]:
        """The timers that were set, or (None) cleared, by (run id, timer id)."""
        return self._timers.items()

    def _keep(self, effect: PutTask | ChangeTask | AckTask | SetTimer | ClearTimer) -> None:
        match effect:
            case PutTask(row) | ChangeTask(row):
                self._put[row.task_id] = row
            case AckTask(row):
                self._put.pop(row.task_id, None)
                self._acked[row.task_id] = row
            case SetTimer(row):
                self._timers[row.run_id, row.timer_id] = row
            case ClearTimer(run_id, timer_id):
                self._timers[run_id, timer_id] = None

"""Which batches of a group apply, and what is to be written for them: decided on what the transaction has read."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from towline.core.task import TaskRow, TimerRow
from towline.store.api import Batch, RunRow, StoreError
from towline.store.sqlite.rows import EVENT_ID_LIMIT, history_id
from towline.store.sqlite.statements import Value

Key = tuple[str, str]


@dataclass(slots=True)
class StoredHead:
    """What is known of a run that is stored."""

    seq: int
    revision: int
    status: int


@dataclass(slots=True)
class Snapshot:
    """All of the store that a group is judged on. Batches that apply change it, so that later ones see them."""

    largest_seq: int
    runs: dict[str, StoredHead] = field(default_factory=dict)
    newest: dict[Key, str] = field(default_factory=dict)  # (namespace, workflow id): run id
    closed: dict[str, bool] = field(default_factory=dict)  # of the newest runs, by run id


@dataclass(slots=True)
class Changes:
    """What to write: per run, task and timer only what is left at the end of the group."""

    runs_started: dict[str, tuple[int, RunRow]] = field(default_factory=dict)  # run id: seq, row
    runs_advanced: dict[str, tuple[int, RunRow]] = field(default_factory=dict)
    runs_with_new_status: dict[str, tuple[int, RunRow]] = field(default_factory=dict)
    blobs: list[tuple[Value, ...]] = field(default_factory=list)
    tasks: dict[Key, TaskRow | None] = field(default_factory=dict)  # None: to be deleted
    timers: dict[Key, TimerRow | None] = field(default_factory=dict)


def judge(snapshot: Snapshot, batches: Sequence[Batch]) -> tuple[list[bool], Changes]:
    """For each batch whether it applies after those before it, and the changes that all which do make together."""
    changes = Changes()
    results = []
    for batch in batches:
        applies = _applies(snapshot, batch)
        if applies:
            _apply(snapshot, changes, batch)
        results.append(applies)
    return results, changes


def _applies(snapshot: Snapshot, batch: Batch) -> bool:
    stored = snapshot.runs.get(batch.run.run_id)
    if (stored.revision if stored else 0) != batch.expected_revision:
        return False
    return stored is not None or _may_start(snapshot, batch)


def _may_start(snapshot: Snapshot, batch: Batch) -> bool:
    newest = snapshot.newest.get((batch.run.namespace, batch.run.workflow_id))
    if newest is None:
        return batch.replaces_run_id == ""
    return newest == batch.replaces_run_id and snapshot.closed[newest]


def _apply(snapshot: Snapshot, changes: Changes, batch: Batch) -> None:
    seq = _apply_to_run(snapshot, changes, batch.run)
    if batch.events:
        changes.blobs.append((history_id(seq, batch.first_event_id), batch.run.last_event_id, batch.events))
    for row in batch.tasks_put:
        changes.tasks[row.run_id, row.task_id] = row
    for row in batch.tasks_acked:
        changes.tasks[row.run_id, row.task_id] = None
    for timer in batch.timers_set:
        changes.timers[timer.run_id, timer.timer_id] = timer
    for key in batch.timers_cleared:
        changes.timers[key] = None


def _apply_to_run(snapshot: Snapshot, changes: Changes, row: RunRow) -> int:
    """Returns the run's seq."""
    if row.last_event_id >= EVENT_ID_LIMIT:
        raise StoreError(f"run {row.run_id} has more than {EVENT_ID_LIMIT - 1} events: continue it as new")
    head = snapshot.runs.get(row.run_id)
    if head is None:
        snapshot.largest_seq += 1
        head = snapshot.runs[row.run_id] = StoredHead(snapshot.largest_seq, row.revision, row.status)
        snapshot.newest[row.namespace, row.workflow_id] = row.run_id
        changes.runs_started[row.run_id] = (head.seq, row)
    elif row.run_id in changes.runs_started:
        changes.runs_started[row.run_id] = (head.seq, row)
    else:
        changes.runs_advanced[row.run_id] = (head.seq, row)
        if head.status != row.status:
            changes.runs_with_new_status[row.run_id] = (head.seq, row)
    head.revision, head.status = row.revision, row.status
    snapshot.closed[row.run_id] = row.closed()
    return head.seq

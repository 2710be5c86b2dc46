"""The store: what the engine needs of a database, and no more. `store/conformance` is this contract as tests."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from towline.api.common_pb2 import WorkflowExecutionStatus
from towline.core.task import TaskRow, TimerRow


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run at a glance, as it is after its latest batch. Open as long as its status is RUNNING."""

    namespace: str
    workflow_id: str
    run_id: str
    workflow_type: str
    task_queue: str
    status: int  # WorkflowExecutionStatus
    start_request_id: str
    start_time_ms: int
    close_time_ms: int  # 0 as long as it is open
    last_event_id: int
    history_size_bytes: int
    revision: int  # how many batches made it what it is, from 1

    def closed(self) -> bool:
        """It is over. Told by the status, since a test's clock may well say 0 when a run closes."""
        return self.status != WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING


@dataclass(slots=True)
class Batch:
    """One decision (or several about one run, made one after another), to be written whole or not at all.

    It applies only if all of this holds at that moment, else it is a conflict and nothing of it is written:
    the stored run has `expected_revision` (0: no such run is stored); for a new run, the workflow id's newest run is
    `replaces_run_id` ("": it has none) and that run is closed.

    Every batch raises the revision, also one that adds no event: law 3 asks for the last event id alone, but a lease, a
    failure that is only counted or a heartbeat changes rows and no history, and a decision on rows that have changed is
    as wrong as one on events that have. It follows that a run's tasks and timers are what the decision saw, so nothing
    is compared for them: a task or timer that is put replaces the one of its id, and to take one away that is not
    there changes nothing (a decision that does so is a bug, which `core.apply.perform` raises before there is a batch).

    It names no task and no timer twice: whoever joins several decisions says what comes of them.
    """

    run: RunRow  # of a stored run only status (and with it close_time_ms) and what follows may change
    replaces_run_id: str = ""
    first_event_id: int = 0
    events: bytes = b""  # an encoded History of events first_event_id .. run.last_event_id; empty: none
    tasks_put: list[TaskRow] = field(default_factory=list)  # new ones, and those that changed
    tasks_acked: list[TaskRow] = field(default_factory=list)  # as they were
    timers_set: list[TimerRow] = field(default_factory=list)
    timers_cleared: list[tuple[str, str]] = field(default_factory=list)  # (run id, timer id)

    @property
    def expected_revision(self) -> int:
        """The revision of the run that was decided on: the one before that of `run`. 0: there was no such run."""
        return self.run.revision - 1


@dataclass(frozen=True, slots=True)
class StoredRun:
    """What is loaded of a run to decide on it."""

    row: RunRow
    blobs: list[bytes]  # encoded History messages; joined they are the whole history
    tasks: list[TaskRow]  # by task id


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """A run of whole blobs."""

    blobs: list[bytes]
    first_event_id: int  # of the first blob, which may begin before the event that was asked for; 0: no blobs
    last_event_id: int  # of the last blob; 0: no blobs


@dataclass(frozen=True, slots=True)
class TaskHint:
    """Enough of a task to deliver it."""

    namespace: str
    queue: str
    task_id: str
    run_id: str
    priority: int
    visible_at_ms: int


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Every field that is set must match."""

    namespace: str
    workflow_id: str = ""
    workflow_type: str = ""
    status: int = 0


class StoreError(Exception):
    """The store could not do it; nothing of the call took effect, or (after a failed sync) it cannot be told.

    The message names the store, the fault and what to do. Callers drop what they cached and may try again.
    """


class StoreUnusable(StoreError):
    """The store cannot be opened: not a database, read-only, of a newer schema, and so on."""


class Store(Protocol):
    """A database behind one server process. Every method may raise StoreError. Methods are called from one event loop.

    Reads see every batch whose commit returned before the read began.
    """

    async def open(self) -> None:
        """Connect and bring the schema up to date. Raises StoreUnusable, and has then left the data as it was."""

    async def close(self) -> None:
        """Finish what was begun and let go of everything. May be called twice."""

    async def commit(self, batches: Sequence[Batch]) -> list[bool]:
        """Write a group of batches in one durable transaction, in this order, each judged on what came before it.

        Returns, for each, True: written, or False: conflict. When this returns, what was written survives a power cut.
        """

    async def reserve_lease_tokens(self, count: int) -> int:
        """Set aside `count` (1 or more) lease tokens for this process, durably; returns the first. Starts at 1."""

    async def load_run(self, run_id: str) -> StoredRun | None:
        """Everything of one run, in one consistent read; None: no such run."""

    async def find_run(self, namespace: str, workflow_id: str, run_id: str = "") -> RunRow | None:
        """That run, or, without a run id, the newest run of the workflow id; None: no such run."""

    async def read_history(self, run_id: str, first_event_id: int, maximum_bytes: int) -> HistoryPage:
        """The blobs from the one that holds `first_event_id` on: as many as fit, and one at least if there is one."""

    async def ready_tasks(self, namespace: str, queue: str, now_ms: int, limit: int) -> list[TaskHint]:
        """Tasks of a queue that are not leased and visible at `now_ms`, by (priority, visible_at_ms, task_id)."""

    async def expiring_tasks(self, until_ms: int, limit: int) -> list[TaskRow]:
        """Leased tasks whose lease ends by `until_ms`, by (lease_expires_at_ms, task_id)."""

    async def delayed_tasks(self, after_ms: int, until_ms: int, limit: int) -> list[TaskRow]:
        """Unleased tasks with `after_ms` < visible_at_ms <= `until_ms`, by (visible_at_ms, task_id)."""

    async def due_timers(self, until_ms: int, limit: int) -> list[TimerRow]:
        """Timers with fire_at_ms <= `until_ms`, by (fire_at_ms, run_id, timer_id)."""

    async def list_runs(self, where: RunFilter, limit: int, before: tuple[int, str] | None = None) -> list[RunRow]:
        """Matching runs by (start_time_ms, run_id), the newest first; `before` is the key of the last run seen."""

    async def count_runs(self, where: RunFilter) -> int:
        """How many runs match."""

    async def closed_runs(self, before_ms: int, limit: int) -> list[RunRow]:
        """Runs that closed before `before_ms`, by (close_time_ms, run_id)."""

    async def delete_runs(self, run_ids: Sequence[str]) -> None:
        """Forget closed runs with all that belongs to them. Open runs and unknown ids are left alone."""

"""Rows and batches to try a store with: valid, and otherwise arbitrary. A store never looks into event blobs."""

from dataclasses import replace
from typing import Any, Final

from towline.api.common_pb2 import WorkflowExecutionStatus
from towline.core.task import TaskRow, TimerRow
from towline.store.api import Batch, RunRow

RUNNING: Final = int(WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING)
COMPLETED: Final = int(WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_COMPLETED)
FAILED: Final = int(WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_FAILED)


def run_row(run_id: str, **fields: Any) -> RunRow:
    """A new and open run of the workflow "order-1" that ends with event 2, but for the given fields of RunRow."""
    row = RunRow(
        namespace="default",
        workflow_id="order-1",
        run_id=run_id,
        workflow_type="Order",
        task_queue="orders",
        status=RUNNING,
        start_request_id=f"request of {run_id}",
        start_time_ms=1_000,
        close_time_ms=0,
        last_event_id=2,
        history_size_bytes=100,
        revision=1,
    )
    return replace(row, **fields)


def blob(run_id: str, first_event_id: int, last_event_id: int) -> bytes:
    """Bytes in place of an encoded History, with every byte that a database might stumble over."""
    return f"{run_id}:{first_event_id}..{last_event_id}".encode() + b"\x00'\"\xff\n"


def new_run(run_id: str = "run-1", *, replaces_run_id: str = "", **fields: Any) -> Batch:
    """The batch that starts a run: its events are 1 and 2, unless `last_event_id` says otherwise."""
    row = run_row(run_id, **fields)
    return Batch(
        run=row,
        replaces_run_id=replaces_run_id,
        first_event_id=1,
        events=blob(run_id, 1, row.last_event_id),
    )


def more_events(row: RunRow, count: int, **fields: Any) -> Batch:
    """The next batch of a run: `count` events after those of `row` (0: none, just what is added to the batch)."""
    changed = replace(row, last_event_id=row.last_event_id + count, revision=row.revision + 1, **fields)
    batch = Batch(run=changed)
    if count:
        batch.first_event_id = row.last_event_id + 1
        batch.events = blob(row.run_id, batch.first_event_id, changed.last_event_id)
    return batch


def closing(row: RunRow, close_time_ms: int = 5_000, **fields: Any) -> Batch:
    """The batch that completes a run, with one event."""
    return more_events(row, 1, close_time_ms=close_time_ms, **{"status": COMPLETED, **fields})


def task_row(run_id: str, scheduled_event_id: int = 2, **fields: Any) -> TaskRow:
    """A workflow task that is ready at 1,000 ms, but for the given fields of TaskRow."""
    row = TaskRow(
        namespace="default",
        queue="wf:orders",
        task_id=f"{run_id}/wt/{scheduled_event_id}",
        run_id=run_id,
        workflow_id="order-1",
        scheduled_event_id=scheduled_event_id,
        attempt=1,
        visible_at_ms=1_000,
    )
    return replace(row, **fields)


def timer_row(run_id: str, timer_id: str = "timer/5", fire_at_ms: int = 1_000, **fields: Any) -> TimerRow:
    """A timer of the workflow "order-1", but for the given fields of TimerRow."""
    row = TimerRow("default", run_id, "order-1", timer_id, fire_at_ms)
    return replace(row, **fields)

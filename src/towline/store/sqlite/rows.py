"""Rows of the store's contract as rows of tables, and back. The orders of columns are those of the statements."""

from collections.abc import Sequence
from typing import Any

from towline.core.task import TaskRow, TimerRow
from towline.store.api import RunRow
from towline.store.sqlite.statements import Value

# A run's blobs have ids from (seq << EVENT_ID_BITS) on: see the table `history`.
EVENT_ID_BITS = 24
EVENT_ID_LIMIT = 1 << EVENT_ID_BITS


def history_id(seq: int, first_event_id: int) -> int:
    """Where a blob stands in the table `history`."""
    return (seq << EVENT_ID_BITS) + first_event_id


def run_to_columns(seq: int, row: RunRow) -> tuple[Value, ...]:
    return (
        seq,
        row.run_id,
        row.namespace,
        row.workflow_id,
        row.workflow_type,
        row.task_queue,
        row.status,
        row.start_request_id,
        row.start_time_ms,
        row.close_time_ms,
        row.last_event_id,
        row.history_size_bytes,
        row.revision,
    )


def run_from_columns(columns: Sequence[Any]) -> RunRow:
    """Without the seq."""
    run_id, namespace, workflow_id, *rest = columns
    return RunRow(namespace, workflow_id, run_id, *rest)


def task_to_columns(row: TaskRow) -> tuple[Value, ...]:
    return (
        row.run_id,
        row.task_id,
        row.namespace,
        row.queue,
        row.workflow_id,
        row.scheduled_event_id,
        row.attempt,
        row.visible_at_ms,
        row.lease_token,
        row.lease_expires_at_ms,
        row.started_event_id,
        row.started_at_ms,
        row.attempt_expires_at_ms,
        row.priority,
        row.details,
    )


def task_from_columns(columns: Sequence[Any]) -> TaskRow:
    """With the details as hexadecimal."""
    run_id, task_id, namespace, queue, *rest = columns
    rest[-1] = bytes.fromhex(rest[-1])
    return TaskRow(namespace, queue, task_id, run_id, *rest)


def timer_to_columns(row: TimerRow) -> tuple[Value, ...]:
    return (row.run_id, row.timer_id, row.namespace, row.workflow_id, row.fire_at_ms)


def blobs_from_hexadecimal(joined: str | None) -> list[bytes]:
    return [bytes.fromhex(each) for each in joined.split(" ")] if joined else []

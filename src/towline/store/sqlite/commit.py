"""One group of batches as one transaction: read what they are judged on, judge, write. Runs on the writer thread."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from towline.store.api import Batch
from towline.store.sqlite import statements as sql
from towline.store.sqlite.judge import Changes, Snapshot, StoredHead, judge
from towline.store.sqlite.rows import run_to_columns, task_to_columns, timer_to_columns

RUN_KEY, NEWEST_KEY = 0, 1  # kinds of keys, as in read_group.sql
RUNNING = 1
Key = tuple[int, str, str]


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A write transaction: other processes that write wait from its begin on. Rolled back by any error."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite ends it by itself on some errors, a full disk among them
            connection.execute("ROLLBACK")
        raise


def commit_group(connection: sqlite3.Connection, batches: Sequence[Batch]) -> list[bool]:
    """As `Store.commit`. Raises sqlite3.Error, and has then written nothing."""
    with transaction(connection):
        results, changes = judge(read_snapshot(connection, batches), batches)
        write(connection, changes)
    return results


def read_snapshot(connection: sqlite3.Connection, batches: Sequence[Batch]) -> Snapshot:
    """What is stored of the runs that the batches name."""
    keys = list(_keys(batches))
    found = sql.READ_GROUP.select(connection, keys)
    snapshot = Snapshot(largest_seq=found[0][0])
    answers = [answer for _, array in found for answer in json.loads(array)]
    for key, answer in zip(keys, answers, strict=False):  # the answers end with those to padding
        if answer is not None:
            _add(snapshot, key, answer)
    return snapshot


def write(connection: sqlite3.Connection, changes: Changes) -> None:
    """Write all of it, each kind of change with one statement."""
    sql.INSERT_RUNS.execute(connection, [run_to_columns(seq, row) for seq, row in changes.runs_started.values()])
    sql.ADVANCE_RUNS.execute(
        connection,
        [(seq, row.last_event_id, row.history_size_bytes, row.revision) for seq, row in changes.runs_advanced.values()],
    )
    sql.CHANGE_RUN_STATUS.execute(
        connection, [(seq, row.status, row.close_time_ms) for seq, row in changes.runs_with_new_status.values()]
    )
    sql.INSERT_HISTORY.execute(connection, changes.blobs)
    sql.PUT_TASKS.execute(connection, [task_to_columns(row) for row in changes.tasks.values() if row is not None])
    sql.DELETE_TASKS.execute(connection, [key for key, row in changes.tasks.items() if row is None])
    sql.PUT_TIMERS.execute(connection, [timer_to_columns(row) for row in changes.timers.values() if row is not None])
    sql.DELETE_TIMERS.execute(connection, [key for key, row in changes.timers.items() if row is None])


def _keys(batches: Sequence[Batch]) -> dict[Key, None]:
    """What to read, each once, in order."""
    keys: dict[Key, None] = {}
    for batch in batches:
        keys[RUN_KEY, batch.run.run_id, ""] = None
        if batch.expected_revision == 0:
            keys[NEWEST_KEY, batch.run.namespace, batch.run.workflow_id] = None
    return keys


def _add(snapshot: Snapshot, key: Key, answer: list[Any]) -> None:
    kind, a, b = key
    if kind == RUN_KEY:
        snapshot.runs[a] = StoredHead(*answer)
    else:
        run_id, status = answer
        snapshot.newest[a, b] = run_id
        snapshot.closed[run_id] = status != RUNNING

"""Statements: as few as can be, whatever the size of the group, and each on its index."""

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from towline.store.api import Batch
from towline.store.conformance.rows import closing, more_events, new_run, task_row, timer_row
from towline.store.sqlite import statements
from towline.store.sqlite.commit import commit_group
from towline.store.sqlite.connection import connect
from towline.store.sqlite.migrations import load_migrations, migrate
from towline.store.sqlite.statements import SIZES, Rows


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    path = tmp_path / "towline.db"
    connection = connect(path)
    migrate(connection, path, load_migrations())
    yield connection
    connection.close()


def group_of_everything(size: int) -> tuple[list[Batch], list[Batch]]:
    """Two groups that together make every kind of change in each of `size` runs."""
    starts, others = [], []
    for number in range(size):
        run_id = f"run-{number}"
        start = new_run(run_id, workflow_id=run_id)
        start.tasks_put = [kept := task_row(run_id, 2), acked := task_row(run_id, 3)]
        start.timers_set = [timer_row(run_id)]
        starts.append(start)
        on, end = more_events(start.run, 1), closing(more_events(start.run, 1).run)
        on.tasks_put, on.tasks_acked = [replace(kept, attempt=2)], [acked]
        on.timers_set, on.timers_cleared = [timer_row(run_id, "other")], [(run_id, "timer/5")]
        others += [on, end]
    return starts, others


@pytest.mark.parametrize("size", [1, 50, 120])
def test_a_group_takes_ten_statements_or_fewer_whatever_its_size(connection: sqlite3.Connection, size: int) -> None:
    for group in group_of_everything(size):
        executed: list[str] = []
        connection.set_trace_callback(executed.append)
        assert commit_group(connection, group) == [True] * len(group)
        connection.set_trace_callback(None)
        # One statement per kind of change, BEGIN, COMMIT and one read for at most 256 keys.
        assert len(executed) <= 10 + size * 2 // SIZES[-1], executed


def test_every_number_of_rows_is_taken_whole(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TEMP TABLE numbers (id INTEGER PRIMARY KEY, last_event_id, events)")
    total = 0
    for count in range(SIZES[-1] + 2):
        rows = [(number, 1, b"x") for number in range(total, total + count)]
        statements.INSERT_HISTORY.execute(connection, rows)
        total += count
        connection.execute("DELETE FROM history WHERE id < ?", (total - count,))
        assert connection.execute("SELECT count(*) FROM history").fetchall() == [(count,)]


def test_rows_of_a_select_come_chunk_after_chunk(connection: sqlite3.Connection) -> None:
    keys = [(0, f"run-{number}", "") for number in range(SIZES[-1] + 1)]
    found = statements.READ_GROUP.select(connection, keys)
    assert [array.count("null") for _, array in found] == [SIZES[-1], 1]


def queries() -> Iterator[tuple[str, str]]:
    for name, value in vars(statements).items():
        if name.isupper() and isinstance(value, Rows):
            yield name, value._by_size[0]
        elif name.isupper() and isinstance(value, str):
            yield name, value


@pytest.mark.parametrize(("name", "sql"), list(queries()))
def test_no_statement_reads_a_whole_table(connection: sqlite3.Connection, name: str, sql: str) -> None:
    names = re.findall(r":([a-z_]+)", sql)
    parameters = dict.fromkeys(names, 1) if names else (None,) * sql.count("?")
    plan = [detail for _, _, _, detail in connection.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)]
    tables = ("runs", "history", "tasks", "timers")
    scans = [step for step in plan if step.startswith("SCAN") and step.split()[1] in tables]
    assert scans == [], (name, plan)

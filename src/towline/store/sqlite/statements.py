"""The SQL of this store, one statement per file of `statements/`, each loaded once.

Stepping through a statement gives the GIL away and has to win it back from a busy event loop, so what costs is the
number of statements, not their size. `Rows` statements take many rows at once: their one `VALUES (?, ?)` is expanded.
"""

import re
import sqlite3
from bisect import bisect_left
from collections.abc import Sequence
from importlib.resources import files
from itertools import chain
from typing import Any, Final

Value = str | int | bytes | None

# How many rows an expanded statement may take. Few sizes, so that SQLite finds its compiled statement again; the rows
# left over are NULL, which every statement ignores. The largest times the
# number of columns stays below the 32,766 parameters that SQLite allows.
SIZES: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
# So many compiled statements a connection keeps: every size of every statement.
CACHED_STATEMENTS: Final = 512

_VALUES: Final = re.compile(r"VALUES (\(\?(?:, \?)*\))")


def load(name: str) -> str:
    """The statement in the file of that name."""
    return files(__package__).joinpath("statements", f"{name}.sql").read_text(encoding="utf-8")


class Rows:
    """A statement that takes any number of rows as parameters."""

    def __init__(self, name: str) -> None:
        sql = load(name)
        row = _VALUES.findall(sql)[0]
        self._columns: Final = row.count("?")
        self._by_size: Final = [_VALUES.sub("VALUES " + ", ".join([row] * size), sql) for size in SIZES]

    def execute(self, connection: sqlite3.Connection, rows: Sequence[Sequence[Value]]) -> None:
        """Run it, in chunks if it must be; not at all without rows."""
        for start in range(0, len(rows), SIZES[-1]):
            self._execute_chunk(connection, rows[start : start + SIZES[-1]])

    def select(self, connection: sqlite3.Connection, rows: Sequence[Sequence[Value]]) -> list[tuple[Any, ...]]:
        """Run it as `execute` does; returns what it selected, chunk after chunk."""
        found: list[tuple[Any, ...]] = []
        for start in range(0, len(rows), SIZES[-1]):
            found += self._execute_chunk(connection, rows[start : start + SIZES[-1]]).fetchall()
        return found

    def _execute_chunk(self, connection: sqlite3.Connection, rows: Sequence[Sequence[Value]]) -> sqlite3.Cursor:
        index = bisect_left(SIZES, len(rows))
        padding = (None,) * (self._columns * (SIZES[index] - len(rows)))
        return connection.execute(self._by_size[index], [*chain.from_iterable(rows), *padding])


READ_GROUP: Final = Rows("read_group")
INSERT_RUNS: Final = Rows("insert_runs")
ADVANCE_RUNS: Final = Rows("advance_runs")
CHANGE_RUN_STATUS: Final = Rows("change_run_status")
INSERT_HISTORY: Final = Rows("insert_history")
PUT_TASKS: Final = Rows("put_tasks")
DELETE_TASKS: Final = Rows("delete_tasks")
PUT_TIMERS: Final = Rows("put_timers")
DELETE_TIMERS: Final = Rows("delete_timers")
RESERVE_LEASE_TOKENS: Final = load("reserve_lease_tokens")

FIND_RUN: Final = load("find_run")
FIND_NEWEST_RUN: Final = load("find_newest_run")
LOAD_RUN: Final = load("load_run")
READ_HISTORY: Final = load("read_history")
READY_TASKS: Final = load("ready_tasks")
EXPIRING_TASKS: Final = load("expiring_tasks")
DELAYED_TASKS: Final = load("delayed_tasks")
DUE_TIMERS: Final = load("due_timers")
LIST_RUNS: Final = load("list_runs")
LIST_RUNS_OF_WORKFLOW: Final = load("list_runs_of_workflow")
COUNT_RUNS: Final = load("count_runs")
COUNT_RUNS_OF_WORKFLOW: Final = load("count_runs_of_workflow")
CLOSED_RUNS: Final = load("closed_runs")

FIND_CLOSED_RUNS: Final = Rows("find_closed_runs")
DELETE_HISTORIES: Final = Rows("delete_histories")
DELETE_TASKS_OF_RUNS: Final = Rows("delete_tasks_of_runs")
DELETE_TIMERS_OF_RUNS: Final = Rows("delete_timers_of_runs")
DELETE_RUNS: Final = Rows("delete_runs")

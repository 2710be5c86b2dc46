"""The store on an SQLite file."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from towline.core.task import TaskRow, TimerRow
from towline.store.api import Batch, HistoryPage, RunFilter, RunRow, StoredRun, StoreError, TaskHint
from towline.store.sqlite import retention
from towline.store.sqlite import statements as sql
from towline.store.sqlite.commit import commit_group
from towline.store.sqlite.give_way import GiveWay
from towline.store.sqlite.reader import Readers
from towline.store.sqlite.rows import blobs_from_hexadecimal, run_from_columns, task_from_columns
from towline.store.sqlite.statements import Value
from towline.store.sqlite.writer import Writer

# After every key there is: where a listing begins.
NEWEST: tuple[int, str] = (2**63 - 1, "")


class SqliteStore:
    """A `Store` in one file, which several processes may have open. The folder must exist, the file need not."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: tuple[Writer, Readers] | None = None

    async def open(self) -> None:
        if self._open is None:
            give_way = GiveWay()
            self._open = (await Writer.open(self._path, give_way), Readers(self._path, give_way))

    async def close(self) -> None:
        if self._open is None:
            return
        (writer, readers), self._open = self._open, None
        await readers.close()
        await writer.close()  # last: the last connection to close writes the log back into the database

    async def commit(self, batches: Sequence[Batch]) -> list[bool]:
        if not batches:
            return []
        return await self._writer().run(partial(commit_group, batches=batches))

    async def reserve_lease_tokens(self, count: int) -> int:
        return await self._writer().run(partial(_reserve_lease_tokens, count=count))

    async def load_run(self, run_id: str) -> StoredRun | None:
        for *run, blobs, tasks in await self._select(sql.LOAD_RUN, run_id):
            rows = [task_from_columns(columns) for columns in json.loads(tasks)]
            return StoredRun(run_from_columns(run), blobs_from_hexadecimal(blobs), rows)
        return None

    async def find_run(self, namespace: str, workflow_id: str, run_id: str = "") -> RunRow | None:
        if run_id:
            found = await self._select(sql.FIND_RUN, run_id, namespace, workflow_id)
        else:
            found = await self._select(sql.FIND_NEWEST_RUN, namespace, workflow_id)
        return run_from_columns(found[0]) if found else None

    async def read_history(self, run_id: str, first_event_id: int, maximum_bytes: int) -> HistoryPage:
        [(first, last, blobs)] = await self._select_named(
            sql.READ_HISTORY, run_id=run_id, first_event_id=first_event_id, maximum_bytes=maximum_bytes
        )
        return HistoryPage(blobs_from_hexadecimal(blobs), first or 0, last or 0)

    async def ready_tasks(self, namespace: str, queue: str, now_ms: int, limit: int) -> list[TaskHint]:
        levels = await self._select_named(sql.READY_TASKS, namespace=namespace, queue=queue, now_ms=now_ms, limit=limit)
        return [TaskHint(*columns) for (level,) in levels for columns in json.loads(level)][:limit]

    async def expiring_tasks(self, until_ms: int, limit: int) -> list[TaskRow]:
        return [task_from_columns(columns) for columns in await self._array(sql.EXPIRING_TASKS, until_ms, limit)]

    async def delayed_tasks(self, after_ms: int, until_ms: int, limit: int) -> list[TaskRow]:
        found = await self._array(sql.DELAYED_TASKS, after_ms, until_ms, limit)
        return [task_from_columns(columns) for columns in found]

    async def due_timers(self, until_ms: int, limit: int) -> list[TimerRow]:
        return [TimerRow(*columns) for columns in await self._array(sql.DUE_TIMERS, until_ms, limit)]

    async def list_runs(self, where: RunFilter, limit: int, before: tuple[int, str] | None = None) -> list[RunRow]:
        start_time_ms, run_id = before or NEWEST
        [(array,)] = await self._select_named(
            sql.LIST_RUNS_OF_WORKFLOW if where.workflow_id else sql.LIST_RUNS,
            **_filter(where),
            start_time_ms=start_time_ms,
            run_id=run_id,
            limit=limit,
        )
        return [run_from_columns(columns) for columns in json.loads(array)]

    async def count_runs(self, where: RunFilter) -> int:
        statement = sql.COUNT_RUNS_OF_WORKFLOW if where.workflow_id else sql.COUNT_RUNS
        [(count,)] = await self._select_named(statement, **_filter(where))
        return int(count)

    async def closed_runs(self, before_ms: int, limit: int) -> list[RunRow]:
        return [run_from_columns(columns) for columns in await self._array(sql.CLOSED_RUNS, before_ms, limit)]

    async def delete_runs(self, run_ids: Sequence[str]) -> None:
        deletable = await self._writer().run(partial(retention.find_closed, run_ids=run_ids))
        for step in retention.steps(deletable):
            await self._writer().run(partial(retention.delete, runs=step))

    async def _select(self, statement: str, *parameters: Value) -> list[Any]:
        return await self._opened()[1].select(statement, parameters)

    async def _select_named(self, statement: str, **parameters: Value) -> list[Any]:
        return await self._opened()[1].select(statement, parameters)

    async def _array(self, statement: str, *parameters: Value) -> list[Any]:
        """For statements that select one JSON array of rows: one step, however many rows."""
        [(array,)] = await self._select(statement, *parameters)
        rows: list[Any] = json.loads(array)
        return rows

    def _writer(self) -> Writer:
        return self._opened()[0]

    def _opened(self) -> tuple[Writer, Readers]:
        if self._open is None:
            raise StoreError(f"{self._path} is not open: open the store first")
        return self._open


def _filter(where: RunFilter) -> dict[str, Value]:
    return asdict(where)


def _reserve_lease_tokens(connection: sqlite3.Connection, count: int) -> int:
    [(following,)] = connection.execute(sql.RESERVE_LEASE_TOKENS, (count,)).fetchall()
    return int(following) - count

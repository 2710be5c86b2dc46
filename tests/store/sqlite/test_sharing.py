"""Several servers on one file: correct, whoever comes first."""

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from towline.store.api import RunRow
from towline.store.conformance.contents import contents, stored
from towline.store.conformance.rows import blob, more_events, new_run, task_row
from towline.store.group import GroupCommit
from towline.store.sqlite.store import SqliteStore

OPEN_AND_COMMIT = """
import asyncio, sys
from pathlib import Path
from towline.store.conformance.rows import new_run
from towline.store.sqlite.store import SqliteStore

async def main():
    store = SqliteStore(Path(sys.argv[1]))
    sys.stdin.readline()
    await store.open()
    print(await store.commit([new_run(sys.argv[2], workflow_id=sys.argv[2])]), await store.reserve_lease_tokens(1))
    await store.close()

print("ready", flush=True)
asyncio.run(main())
"""


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncIterator[tuple[SqliteStore, SqliteStore]]:
    stores = (SqliteStore(tmp_path / "towline.db"), SqliteStore(tmp_path / "towline.db"))
    for store in stores:
        await store.open()
    yield stores
    for store in stores:
        await store.close()


async def test_each_sees_what_the_other_committed(pair: tuple[SqliteStore, SqliteStore]) -> None:
    one, other = pair
    first = new_run()
    assert await one.commit([first]) == [True]
    assert await other.commit([second := more_events(first.run, 1)]) == [True]
    assert (await stored(one, "run-1")).row == second.run
    assert await contents(one) == await contents(other)


async def test_they_fence_each_other(pair: tuple[SqliteStore, SqliteStore]) -> None:
    one, other = pair
    first = new_run()
    first.tasks_put = [task := task_row("run-1")]
    assert await one.commit([first]) == [True]
    assert await other.commit([new_run("run-2")]) == [False]
    lease, rival = more_events(first.run, 0), more_events(first.run, 0)
    lease.tasks_put = [replace(task, lease_token=1, lease_expires_at_ms=9_000)]
    rival.tasks_put = [replace(task, lease_token=2, lease_expires_at_ms=9_000)]
    assert await one.commit([lease]) == [True]
    assert await other.commit([rival]) == [False]
    assert await other.commit([more_events(lease.run, 1)]) == [True]
    assert await one.commit([more_events(lease.run, 2)]) == [False]


async def test_they_hand_out_different_lease_tokens(pair: tuple[SqliteStore, SqliteStore]) -> None:
    one, other = pair
    assert [await one.reserve_lease_tokens(10), await other.reserve_lease_tokens(5)] == [1, 11]
    assert [await one.reserve_lease_tokens(1), await other.reserve_lease_tokens(1)] == [16, 17]


async def add_events(group: GroupCommit, store: SqliteStore, count: int) -> None:
    """One event at a time, deciding again after each conflict, as a server does."""
    for _ in range(count):
        row: RunRow = (await stored(store, "run-1")).row
        while not await group.commit(more_events(row, 1)):
            row = (await stored(store, "run-1")).row


async def test_a_race_for_one_run_loses_no_event(pair: tuple[SqliteStore, SqliteStore]) -> None:
    assert await pair[0].commit([new_run(last_event_id=1)]) == [True]
    groups = [(GroupCommit(store), store) for store in pair for _ in range(2)]
    await asyncio.gather(*(add_events(group, store, 15) for group, store in groups))
    run = await stored(pair[0], "run-1")
    assert run.row.last_event_id == 61
    assert run.blobs == [blob("run-1", event_id, event_id) for event_id in range(1, 62)]


async def test_processes_that_open_a_new_file_at_once_all_succeed(tmp_path: Path) -> None:
    path = tmp_path / "towline.db"
    pipe = asyncio.subprocess.PIPE
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", OPEN_AND_COMMIT, str(path), f"run-{number}", stdin=pipe, stdout=pipe
        )
        for number in range(4)
    ]
    for process in processes:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
    answers = await asyncio.gather(*(process.communicate(b"go\n") for process in processes))
    assert sorted(out for out, _ in answers) == [f"[True] {token}\n".encode() for token in (1, 2, 3, 4)]
    assert [process.returncode for process in processes] == [0] * 4

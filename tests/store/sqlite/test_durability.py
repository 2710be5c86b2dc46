"""What was acknowledged is there, however the process ended."""

import asyncio
import os
import random
import sys
from pathlib import Path

import pytest

from towline.store.conformance.contents import contents, stored
from towline.store.conformance.rows import blob, closing, more_events, new_run, task_row, timer_row
from towline.store.sqlite.store import SqliteStore

KILLED_WRITER = Path(__file__).with_name("killed_writer.py")
ROUNDS = 4


async def acknowledged_until_killed(path: Path, name: str, lines: int) -> list[tuple[str, str]]:
    """Kill the writer when it has acknowledged so much; returns all that it acknowledged, as (what, run id)."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(KILLED_WRITER), str(path), name, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    told = [await process.stdout.readline() for _ in range(lines)]
    process.kill()
    told += (await process.stdout.read()).splitlines(keepends=True)
    await process.wait()
    whole = [line.decode().split() for line in told if line.endswith(b"\n")]
    return [(what, run_id) for what, run_id in whole]


async def check(store: SqliteStore, what: str, run_id: str) -> None:
    """A run that was acknowledged is there; what follows it may be, and then wholly."""
    start = new_run(run_id, workflow_id=run_id)
    run = await stored(store, run_id)
    timers = [timer for timer in await store.due_timers(10_000, 100_000) if timer.run_id == run_id]
    if what == "closed" or run.row.closed():
        assert run.row == closing(start.run).run
        assert run.blobs == [blob(run_id, 1, 2), blob(run_id, 3, 3)]
        assert (run.tasks, timers) == ([], [])
    else:
        assert run.row == start.run
        assert run.blobs == [blob(run_id, 1, 2)]
        assert (run.tasks, timers) == ([task_row(run_id)], [timer_row(run_id)])


async def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    path = tmp_path / "towline.db"
    choose = random.Random(20)
    latest: dict[str, str] = {}
    for number in range(ROUNDS):
        lines = await acknowledged_until_killed(path, f"round-{number}", choose.randrange(1, 600))
        latest |= {run_id: what for what, run_id in lines}
        store = SqliteStore(path)
        await store.open()
        for run_id, what in latest.items():
            await check(store, what, run_id)
        await store.close()
    assert len(latest) > ROUNDS


async def test_a_closed_store_opens_with_all_that_it_held(tmp_path: Path) -> None:
    path = tmp_path / "towline.db"
    store = SqliteStore(path)
    await store.open()
    first = new_run()
    first.tasks_put, first.timers_set = [task_row("run-1")], [timer_row("run-1")]
    assert await store.commit([first, more_events(first.run, 3)]) == [True, True]
    assert await store.reserve_lease_tokens(100) == 1
    before = await contents(store)
    await store.close()
    await store.close()
    assert os.listdir(tmp_path) == ["towline.db"]
    await store.open()
    assert await contents(store) == before
    assert await store.reserve_lease_tokens(1) == 101
    await store.close()


async def test_closing_finishes_what_was_begun(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "towline.db")
    await store.open()
    started = asyncio.Event()

    async def commit() -> list[bool]:
        started.set()
        return await store.commit([new_run(f"run-{n}", workflow_id=f"order-{n}") for n in range(200)])

    committing = asyncio.ensure_future(commit())
    await started.wait()
    await store.close()
    assert await committing == [True] * 200
    await store.open()
    assert await store.load_run("run-199") is not None
    await store.close()


@pytest.mark.parametrize("setting", ["synchronous", "journal_mode"])
async def test_commits_are_synced(tmp_path: Path, setting: str) -> None:
    store = SqliteStore(tmp_path / "towline.db")
    await store.open()
    assert store._open is not None
    writer, _ = store._open
    [(value,)] = await writer.run(lambda connection: connection.execute(f"PRAGMA {setting}").fetchall())
    assert value == {"synchronous": 2, "journal_mode": "wal"}[setting]
    await store.close()

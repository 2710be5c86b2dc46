"""Tasks that nobody offered to a queue are found all the same, within the sweep's interval."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.server.protocol import Protocol, complete, failure, refused, schedule
from towline.server.settings import Settings
from towline.status import Status
from towline.store.api import Batch, StoreError
from towline.store.memory import MemoryStore
from towline.store.sqlite.store import SqliteStore
from towline.testing.clock import FakeClock

SWEEP_MS = Settings().sweep_interval_ms


class InDoubt(MemoryStore):
    """A store whose next commit takes effect, and yet cannot tell so."""

    in_doubt = False

    async def commit(self, batches: Sequence[Batch]) -> list[bool]:
        results = await super().commit(batches)
        if self.in_doubt:
            self.in_doubt = False
            raise StoreError("the sync failed: try again")
        return results


async def test_waiting_poll_finds_what_another_server_put(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "towline.db"
    async with (
        Protocol(SqliteStore(path), clock, ids="a") as one,
        Protocol(SqliteStore(path), clock, ids="b") as two,
    ):
        poll = asyncio.create_task(two.poll_workflow())
        await clock.wait_for_timer(30_000)
        await one.start()
        clock.advance(SWEEP_MS)
        assert (await poll).execution.workflow_id == "demo-1"


async def test_tasks_of_a_server_that_is_gone_come_back(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "towline.db"
    async with Protocol(SqliteStore(path), clock, ids="b") as two:
        polls: list[asyncio.Task[Any]] = [
            asyncio.create_task(two.poll_workflow()),
            asyncio.create_task(two.poll_activity()),
        ]
        await clock.wait_for_timer(30_000, count=2)
        async with Protocol(SqliteStore(path), clock, ids="a") as one:
            await one.start()
            await one.complete_workflow(await one.poll_workflow(), schedule("1"))
            await one.fail_activity(await one.poll_activity(), failure())  # tried again after 1 s
            await one.start("demo-2")
        clock.advance(SWEEP_MS)
        assert [(await poll).execution.workflow_id for poll in polls] == ["demo-2", "demo-1"]


async def test_start_whose_commit_was_in_doubt_is_delivered(clock: FakeClock) -> None:
    store = InDoubt()
    async with Protocol(store, clock) as protocol:
        poll = asyncio.create_task(protocol.poll_workflow())
        await clock.wait_for_timer(30_000)
        store.in_doubt = True
        await refused(protocol.start(request_id="r"), Status.UNAVAILABLE)
        assert await protocol.start(request_id="r") == "run-1", "it was there already"
        # It was leased to the poll that waited, which does not know: it is free again when the lease is over.
        clock.advance(10_000)
        assert (await poll).execution.run_id == "run-1"


async def test_retry_whose_commit_was_in_doubt_is_delivered(clock: FakeClock) -> None:
    store = InDoubt()
    async with Protocol(store, clock) as protocol:
        task = await protocol.scheduled_activity()
        store.in_doubt = True
        await refused(protocol.fail_activity(task, failure()), Status.UNAVAILABLE)
        poll = asyncio.create_task(protocol.poll_activity())
        await clock.wait_for_timer(30_000)
        clock.advance(SWEEP_MS)
        assert (await poll).attempt == 2


async def test_ready_task_survives_a_clock_that_steps_back(clock: FakeClock) -> None:
    async with Protocol(MemoryStore(), clock) as protocol:
        await protocol.start("first")
        await protocol.poll_workflow()  # the queue has looked into the store
        await protocol.start("second")
        clock.jump(-500)
        poll = asyncio.create_task(protocol.poll_workflow())
        await clock.wait_for_timer(30_000)
        clock.advance(SWEEP_MS)
        assert (await poll).execution.workflow_id == "second"


async def test_queues_that_nobody_polls_are_forgotten(clock: FakeClock) -> None:
    async with Protocol(MemoryStore(), clock) as protocol:
        for number in range(5):
            await protocol.start(f"w{number}", task_queue=f"q{number}")
            await protocol.complete_workflow(await protocol.poll_workflow(f"q{number}"), complete())
        waiting = asyncio.create_task(protocol.poll_workflow("waited-on"))
        await clock.wait_for_timer(30_000)
        protocol.server.matching.sweep()
        assert protocol.server.matching.names() == [("default", "wf:waited-on")]
        await protocol.start("last", task_queue="waited-on")
        assert (await waiting).execution.workflow_id == "last"


async def test_leftover_hint_of_a_deleted_run_is_skipped(clock: FakeClock) -> None:
    async with Protocol(MemoryStore(), clock) as protocol:
        with protocol.server.matching.polled("default", "wf:default"):  # somebody polls all the time
            await protocol.start("other")
            await protocol.poll_workflow()
            run_id = await protocol.start("gone")
            await protocol.terminate("gone")
            await protocol.server.store.delete_runs([run_id])
            protocol.server.engine.runs.drop(run_id)
            await protocol.start("next")
            assert (await protocol.poll_workflow()).execution.workflow_id == "next"


@pytest.mark.parametrize("block", [1, 10_000])
async def test_any_block_of_lease_tokens_serves(clock: FakeClock, block: int) -> None:
    async with Protocol(MemoryStore(), clock, settings=Settings(lease_token_block=block)) as protocol:
        tokens = []
        for number in range(3):
            await protocol.start(f"w{number}")
            tokens.append((await protocol.poll_workflow()).lease_token)
        assert tokens == sorted(set(tokens))

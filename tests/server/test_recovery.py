"""A server that comes back finds everything in the store; two servers on one store do each thing once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.server.protocol import Protocol, complete, failure, names, payloads, refused, schedule
from towline.core.decide import decide
from towline.core.decision import Decision, Done, Stale
from towline.core.request import LeaseExpired, Request, SignalWorkflow
from towline.core.state import Run
from towline.server.settings import Settings
from towline.status import Status
from towline.store.api import HistoryPage, Store, StoreError
from towline.store.memory import MemoryStore
from towline.store.sqlite.store import SqliteStore
from towline.testing.clock import FakeClock


@asynccontextmanager
async def restarted(path: Path, clock: FakeClock, *, ids: str = "later") -> AsyncIterator[Protocol]:
    async with Protocol(SqliteStore(path), clock, ids=ids) as protocol:
        yield protocol


async def test_leases_survive_a_restart(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "towline.db"
    async with restarted(path, clock, ids="run") as protocol:
        activity = await protocol.scheduled_activity(retry_policy=None)
        await protocol.start("demo-2")
        workflow = await protocol.poll_workflow()
    async with restarted(path, clock) as protocol:
        await protocol.complete_activity(activity)
        await protocol.complete_workflow(workflow, complete())
        assert names(await protocol.history("demo-2"))[-1] == "workflow_execution_completed"
        task = await protocol.poll_workflow()
        assert task.execution.workflow_id == "demo-1"
        assert task.lease_token > max(activity.lease_token, workflow.lease_token)


async def test_leases_that_ran_out_while_the_server_was_down_are_taken_back(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "towline.db"
    async with restarted(path, clock, ids="run") as protocol:
        late = await protocol.scheduled_activity()
    clock.advance(60_000)
    async with restarted(path, clock) as protocol:
        poll = asyncio.create_task(protocol.poll_activity())
        await clock.wait_for_timer(1_000)  # the time-out was counted, its back-off runs
        clock.advance(1_000)
        live = await poll
        assert live.attempt == 2
        await refused(protocol.complete_activity(late), Status.FAILED_PRECONDITION)
        await protocol.complete_activity(live)


async def test_queued_tasks_delays_and_timers_survive_a_restart(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "towline.db"
    async with restarted(path, clock, ids="run") as protocol:
        first = await protocol.scheduled_activity()
        await protocol.fail_activity(first, failure(), payloads(b"2"))
        await protocol.start("queued")
    async with restarted(path, clock) as protocol:
        assert (await protocol.poll_workflow()).execution.workflow_id == "queued"
        poll = asyncio.create_task(protocol.poll_activity())
        await clock.wait_for_timer(1_000)
        clock.advance(1_000)
        again = await poll
        assert (again.attempt, again.heartbeat_details) == (2, payloads(b"2"))


async def test_schedule_to_start_time_out_after_a_restart(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "towline.db"
    async with restarted(path, clock, ids="run") as protocol:
        await protocol.start()
        await protocol.complete_workflow(
            await protocol.poll_workflow(), schedule("1", schedule_to_start_timeout_ms=5_000)
        )
    async with restarted(path, clock) as protocol:
        poll = asyncio.create_task(protocol.poll_workflow())
        await clock.wait_for_timer(5_000)
        clock.advance(5_000)
        task = await poll
        assert "activity_task_timed_out" in names(task.history.events)


async def test_two_servers_take_the_same_stale_row_once(tmp_path: Path, clock: FakeClock) -> None:
    """Both read the same expired lease before either acts on it: one time-out is counted, not two."""
    shared = tmp_path / "towline.db"
    async with (
        Protocol(SqliteStore(shared), clock, ids="a") as one,
        Protocol(SqliteStore(shared), clock, ids="b") as two,
    ):
        await one.start()
        task = await one.poll_workflow()
        run_id = task.execution.run_id
        rows = [await protocol.server.store.expiring_tasks(clock.now_ms() + 10_000, 10) for protocol in (one, two)]
        assert rows[0] == rows[1]
        [row] = rows[0]
        # The second server has the run in memory as it was: a decision on that must not get through.
        await two.describe()
        await two.server.engine.ask(run_id, LeaseExpired(row.task_id, 0))
        clock.advance(10_000)
        answers = await asyncio.gather(
            *(protocol.server.engine.ask(run_id, LeaseExpired(row.task_id, row.lease_token)) for protocol in (one, two))
        )
        assert {type(answer.outcome) for answer in answers} == {Done, Stale}
        stored = await one.server.store.load_run(run_id)
        assert stored is not None
        assert [task.attempt for task in stored.tasks] == [2]


async def test_a_report_to_the_other_server_is_accepted_once(tmp_path: Path, clock: FakeClock) -> None:
    shared = tmp_path / "towline.db"
    async with (
        Protocol(SqliteStore(shared), clock, ids="a") as one,
        Protocol(SqliteStore(shared), clock, ids="b") as two,
    ):
        await one.start()
        await one.complete_workflow(await one.poll_workflow(), schedule("1"))
        two.server.matching.look("default", "act:default")
        activity = await two.poll_activity()
        # `one` has the run in memory from before that lease, and must not refuse it for that.
        await one.complete_activity(activity)
        await refused(two.complete_activity(activity), Status.FAILED_PRECONDITION)
        history = await two.history()
        assert names(history).count("activity_task_completed") == 1
        task = await one.poll_workflow()
        await two.complete_workflow(task, complete())
        assert names(await one.history())[-1] == "workflow_execution_completed"


async def test_two_servers_start_one_run_of_a_workflow_id(tmp_path: Path, clock: FakeClock) -> None:
    shared = tmp_path / "towline.db"
    async with (
        Protocol(SqliteStore(shared), clock, ids="a") as one,
        Protocol(SqliteStore(shared), clock, ids="b") as two,
    ):
        starts = await asyncio.gather(
            *(protocol.start(request_id=name) for protocol, name in ((one, "x"), (two, "y"))), return_exceptions=True
        )
        assert sum(isinstance(start, str) for start in starts) == 1
        assert await one.history() == await two.history()


async def test_store_that_fails_changes_nothing(
    store: Store, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Protocol(store, clock) as protocol:
        await protocol.start()
        task = await protocol.poll_workflow()
        before = await protocol.history()
        with monkeypatch.context() as patched:
            patched.setattr(store, "commit", _fails)
            message = await refused(protocol.complete_workflow(task, complete()), Status.UNAVAILABLE)
            assert "disk full" in message
        assert await protocol.history() == before
        await protocol.complete_workflow(task, complete())
        assert names(await protocol.history())[-1] == "workflow_execution_completed"


async def test_run_that_is_deleted_while_it_is_read(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    async with Protocol(store, clock, settings=Settings(cached_bytes=0)) as protocol:
        run_id = await protocol.start()
        await protocol.complete_workflow(await protocol.poll_workflow(), complete())
        read = store.read_history

        async def deleted_before(*arguments: Any) -> HistoryPage:
            await store.delete_runs([run_id])
            return await read(*arguments)

        monkeypatch.setattr(store, "read_history", deleted_before)
        message = await refused(protocol.history_page(close_event_only=True), Status.NOT_FOUND)
        assert "retention" in message


async def test_bug_in_a_rule_answers_its_caller_and_nobody_else(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Protocol(MemoryStore(), clock) as protocol:
        await protocol.start()

        def with_bug(run: Run | None, request: Request, *, now_ms: int) -> Decision:
            if isinstance(request, SignalWorkflow):
                raise ValueError("a bug")
            return decide(run, request, now_ms=now_ms)

        monkeypatch.setattr("towline.server.turn.decide", with_bug)
        with capture_logs() as logs:
            await refused(protocol.signal(), Status.INTERNAL)
        assert "run could not be served" in [entry["event"] for entry in logs]
        task = await protocol.poll_workflow()
        await protocol.complete_workflow(task, complete())
        assert names(await protocol.history())[-1] == "workflow_execution_completed"


async def test_retention_forgets_closed_runs_only(clock: FakeClock) -> None:
    store = MemoryStore()
    async with Protocol(store, clock) as protocol:
        await protocol.start("closed")
        await protocol.complete_workflow(await protocol.poll_workflow(), complete())
        await protocol.start("open")
        deleted = asyncio.Event()
        delete = store.delete_runs

        async def noted(run_ids: list[str]) -> None:
            await delete(run_ids)
            deleted.set()

        store.delete_runs = noted  # type: ignore[method-assign,assignment]
        clock.advance(protocol.settings.retention_ms + 60_000)
        await deleted.wait()
        await refused(protocol.history("closed"), Status.NOT_FOUND)
        assert len(await protocol.history("open")) >= 2


async def _fails(batches: object) -> list[bool]:
    raise StoreError("store towline.db: disk full: free some space")

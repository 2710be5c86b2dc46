"""Two servers on one store: a decision on task rows that the other one has changed meanwhile does not get through."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.core.history_checks import check_history
from tests.server.protocol import Protocol, complete, names
from tests.server.test_attempts import poll_after
from towline.api.task_service_pb2 import PollActivityTaskResponse, PollWorkflowTaskResponse
from towline.core.request import TimerFired
from towline.store.sqlite.store import SqliteStore
from towline.testing.clock import FakeClock

Servers = tuple[Protocol, Protocol]
Leased = tuple[PollActivityTaskResponse, PollWorkflowTaskResponse]


@pytest.fixture
async def servers(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Servers]:
    path = tmp_path / "towline.db"
    async with (
        Protocol(SqliteStore(path), clock, ids="a") as one,
        Protocol(SqliteStore(path), clock, ids="b") as two,
    ):
        yield one, two


async def third_attempt(servers: Servers, clock: FakeClock) -> Leased:
    """An activity, and a workflow task's third attempt, leased by `one` while `two` remembers the second one.

    The third attempt's started event is not written, so `one` has changed nothing but a row.
    """
    one, two = servers
    activity = await two.scheduled_activity()
    await two.signal(name="first")
    await two.fail_workflow(await two.poll_workflow())
    second = await poll_after(two, clock, 1_000)
    assert second.attempt == 2
    await one.fail_workflow(second)
    third = await poll_after(one, clock, 2_000)
    assert third.attempt == 3
    return activity, third


async def test_signal_is_not_lost(servers: Servers, clock: FakeClock) -> None:
    one, two = servers
    _, third = await third_attempt(servers, clock)
    await two.signal(name="second")
    await one.complete_workflow(third)
    history = await one.history()
    check_history(history)
    assert names(history)[-4:] == [
        "workflow_task_started",
        "workflow_execution_signaled",
        "workflow_task_completed",
        "workflow_task_scheduled",
    ]


async def test_activity_result_is_not_lost(servers: Servers, clock: FakeClock) -> None:
    one, two = servers
    activity, third = await third_attempt(servers, clock)
    await two.complete_activity(activity)
    await one.complete_workflow(third)
    check_history(await one.history())
    following = await one.poll_workflow()
    assert "activity_task_completed" in names(following.history.events)
    await two.complete_workflow(following, complete())
    check_history(await two.history())


async def test_timer_that_was_set_again_stays(servers: Servers, clock: FakeClock) -> None:
    """`two` remembers a leased task, whose release by `one` set the timer of the wait for a worker again."""
    one, two = servers
    task = await two.scheduled_activity(schedule_to_start_timeout_ms=5_000)
    await one.release(task)
    await two.server.engine.ask(task.execution.run_id, TimerFired("schedule_to_start/5"))
    [timer] = await one.server.store.due_timers(clock.now_ms() + 5_000, 10)
    assert timer.timer_id == "schedule_to_start/5"
    poll = asyncio.create_task(one.poll_workflow())
    await clock.wait_for_timer(5_000)
    clock.advance(5_000)
    assert "activity_task_timed_out" in names((await poll).history.events)

"""The runs in memory are bounded, in number and in size, and work goes on the same without any."""

import pytest

from tests.server.protocol import Protocol, complete, names, payloads, schedule
from towline import limits
from towline.server.live_run import LiveRuns
from towline.server.settings import Settings
from towline.store.memory import MemoryStore
from towline.testing.clock import FakeClock


async def test_inputs_of_pending_activities_count(clock: FakeClock) -> None:
    settings = Settings(cached_bytes=10 * limits.MIB)
    async with Protocol(MemoryStore(), clock, settings=settings) as protocol:
        for number in range(12):
            await protocol.start(f"w{number}")
            large = schedule("1", input=payloads(b"x" * (2 * limits.MIB)))
            await protocol.complete_workflow(await protocol.poll_workflow(), large)
        assert 0 < len(protocol.server.engine.runs) <= 5


async def test_heartbeat_details_count(clock: FakeClock) -> None:
    settings = Settings(cached_bytes=limits.MIB)
    async with Protocol(MemoryStore(), clock, settings=settings) as protocol:
        task = await protocol.scheduled_activity()
        assert len(protocol.server.engine.runs) == 1
        await protocol.heartbeat(task, payloads(b"x" * (2 * limits.MIB)))
        assert len(protocol.server.engine.runs) == 0
        await protocol.complete_activity(task)
        assert names(await protocol.history())[-2:] == ["activity_task_completed", "workflow_task_scheduled"]


@pytest.mark.parametrize("settings", [Settings(cached_runs=0), Settings(cached_bytes=0)])
async def test_a_server_that_remembers_nothing_works_the_same(clock: FakeClock, settings: Settings) -> None:
    async with Protocol(MemoryStore(), clock, settings=settings) as protocol:
        activity = await protocol.scheduled_activity()
        await protocol.signal()
        await protocol.complete_activity(activity)
        task = await protocol.poll_workflow()
        assert [event.event_id for event in task.history.events] == list(range(1, task.started_event_id + 1))
        await protocol.complete_workflow(task, complete())
        assert names(await protocol.history())[-1] == "workflow_execution_completed"
        assert len(protocol.server.engine.runs) == 0


def test_busy_runs_stay_and_the_oldest_idle_one_goes() -> None:
    runs = LiveRuns(limit=2, limit_bytes=limits.MIB, history_limit_bytes=limits.MIB)
    taken = [runs.take(name) for name in ("a", "b", "c", "d")]
    assert len(runs) == 4
    assert runs.take("a") is taken[0]
    for live in taken:
        runs.put_back(live)
    assert len(runs) == 0, "nothing is known of them"


def test_settings_that_make_no_sense() -> None:
    for wrong in ({"lease_token_block": 0}, {"ready_tasks_per_queue": 0}, {"agenda_entries": 1}, {"retention_ms": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Settings(**wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="namespaces"):
        Settings(namespaces=())

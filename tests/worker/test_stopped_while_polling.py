"""100 activities are queued and workers stop while their polls are in flight: each task runs once, none waits."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from tests.worker.real_server import RealServer
from towline import activity, workflow
from towline.testing.clock import FakeClock
from towline.worker import Worker

ACTIVITIES = 100
TIMEOUT = timedelta(seconds=10)


@pytest.mark.parametrize("stop_after", [0, 1, 7, 50])
async def test_every_queued_activity_runs_once_whoever_stops(tmp_path: Path, stop_after: int) -> None:
    """The clock stands still: a task that waited for its deadline would never come, and the test would hang."""
    clock = FakeClock(start_ms=1_000_000)
    runs: list[tuple[str, int]] = []
    enough = asyncio.Event()

    @activity.defn(name="step")
    async def step(number: int) -> int:
        runs.append((activity.info().activity_id, activity.info().attempt))
        if len(runs) > stop_after:
            enough.set()
        return number

    @workflow.defn
    async def fan_out() -> int:
        results = await asyncio.gather(
            *(
                workflow.execute_activity("step", n, result_type=int, start_to_close_timeout=TIMEOUT)
                for n in range(ACTIVITIES)
            )
        )
        return sum(results)

    async with RealServer(tmp_path / "towline.db", clock=clock) as served, await served.connect() as client:
        handle = await client.start_workflow(fan_out, id="w", task_queue="q")
        options = {"task_queue": "q", "activities": [step], "max_concurrent_activity_task_polls": 20}
        first = Worker(client, workflows=[fan_out], **options)  # type: ignore[arg-type]
        running = asyncio.ensure_future(first.run())
        await enough.wait()
        first.shutdown()
        await running
        async with Worker(client, workflows=[fan_out], **options):  # type: ignore[arg-type]
            assert await handle.result() == sum(range(ACTIVITIES))
    assert sorted(runs) == sorted((str(n), 1) for n in range(1, ACTIVITIES + 1))

"""A type that no worker has: the task fails with what is registered, and waits for a worker that has it."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.worker.real_server import RealServer
from towline import activity, workflow
from towline.client import Client
from towline.testing.clock import FakeClock
from towline.worker import Worker


@activity.defn(start_to_close_timeout=timedelta(seconds=10))
async def upper(text: str) -> str:
    return text.upper()


@activity.defn(start_to_close_timeout=timedelta(seconds=10))
async def lower(text: str) -> str:
    return text.lower()


@workflow.defn
async def echo(text: str) -> str:
    return await workflow.execute_activity(upper, text)


@workflow.defn
async def other(text: str) -> str:
    return text


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(start_ms=1_000_000)


@pytest.fixture
async def client(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Client]:
    async with RealServer(tmp_path / "towline.db", clock=clock) as served, await served.connect() as connected:
        yield connected


async def test_workflow_type_that_no_worker_has(client: Client, clock: FakeClock) -> None:
    handle = await client.start_workflow(echo, "hi", id="w", task_queue="q")
    async with Worker(client, task_queue="q", workflows=[other], activities=[upper]):
        await clock.wait_for_timer(1_000)  # the failed task's back-off
    pending = (await handle.describe()).pending_workflow_task
    assert pending is not None
    assert pending.attempt == 2
    [failed] = [e for e in (await handle.fetch_history()).events if e.HasField("workflow_task_failed")]
    for part in ("'echo'", "registered: other"):
        assert part in failed.workflow_task_failed.failure.message
    async with Worker(client, task_queue="q", workflows=[echo], activities=[upper]):
        result = asyncio.ensure_future(handle.result())
        clock.advance(1_000)
        assert await result == "HI"


async def test_activity_type_that_no_worker_has(client: Client, clock: FakeClock) -> None:
    handle = await client.start_workflow(echo, "hi", id="w", task_queue="q")
    async with Worker(client, task_queue="q", workflows=[echo], activities=[lower]):
        await clock.wait_for_timer(1_000)  # the failed attempt's back-off
    [pending] = (await handle.describe()).pending_activities
    assert pending.attempt == 2
    assert pending.last_failure is not None
    for part in ("upper", "lower"):
        assert part in str(pending.last_failure)
    async with Worker(client, task_queue="q", workflows=[echo], activities=[upper]):
        result = asyncio.ensure_future(handle.result())
        clock.advance(1_000)
        assert await result == "HI"

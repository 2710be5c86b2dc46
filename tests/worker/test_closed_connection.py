"""A client that is closed while its worker runs, with all I/O on the thread that a process shares."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from tests.worker.real_server import RealServer
from towline import activity, workflow
from towline.client import Client, ConnectionClosed
from towline.client.io_thread import SHARED
from towline.worker import Worker

TIMEOUT = timedelta(minutes=5)


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[RealServer]:
    async with RealServer(tmp_path / "towline.db") as served:
        yield served


class Job:
    """An activity that says when it began, and ends when it is told to; and a worker for it."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.go = asyncio.Event()
        self.finished = False

    def worker(self, client: Client) -> Worker:
        @activity.defn(name="job", start_to_close_timeout=TIMEOUT)
        async def job() -> None:
            self.began.set()
            await self.go.wait()
            self.finished = True

        return Worker(client, task_queue="q", workflows=[one_job], activities=[job])


@workflow.defn
async def one_job() -> None:
    await workflow.execute_activity("job", start_to_close_timeout=TIMEOUT)


async def test_a_worker_that_waits_for_tasks_ends_and_says_why(server: RealServer) -> None:
    held_before = SHARED.holders
    client = await Client.connect(server.address)
    running = asyncio.create_task(Job().worker(client).run())
    await client.count_workflows()
    await client.close()
    with pytest.raises(ConnectionClosed, match="the connection was closed"):
        await running
    assert SHARED.holders == held_before


async def test_activities_that_run_are_finished_first(server: RealServer) -> None:
    held_before = SHARED.holders
    client, job = await Client.connect(server.address), Job()
    running = asyncio.create_task(job.worker(client).run())
    await client.start_workflow(one_job, id="w", task_queue="q")
    await job.began.wait()
    with capture_logs() as logs:
        await client.close()
        assert SHARED.holders == held_before + 1
        assert not running.done()
        job.go.set()
        with pytest.raises(ConnectionClosed):
            await running
    assert job.finished
    dropped = [(entry["report"], entry["reason"]) for entry in logs if entry["event"].startswith("report dropped")]
    assert dropped == [("CompleteActivityTask", "the connection was closed: open a new one")]
    assert SHARED.holders == held_before


async def test_a_cancelled_run_ends_on_a_closed_connection_too(server: RealServer) -> None:
    client, job = await Client.connect(server.address), Job()
    running = asyncio.create_task(job.worker(client).run())
    await client.start_workflow(one_job, id="w", task_queue="q")
    await job.began.wait()
    await client.close()
    running.cancel()
    job.go.set()
    await asyncio.wait([running])
    assert job.finished


async def test_a_block_is_cancelled_and_raises_what_ended_its_worker(server: RealServer) -> None:
    client = await Client.connect(server.address)

    async def block() -> None:
        async with Job().worker(client):
            await client.close()
            await asyncio.Event().wait()

    with pytest.raises(ConnectionClosed):
        await block()


async def test_a_worker_of_a_closed_client_does_not_begin(server: RealServer) -> None:
    held_before = SHARED.holders
    client = await Client.connect(server.address)
    worker = Job().worker(client)
    await client.close()
    with pytest.raises(ConnectionClosed):
        await worker.run()
    assert SHARED.holders == held_before


async def test_another_client_of_the_process_goes_on(server: RealServer) -> None:
    client, job = await Client.connect(server.address), Job()
    job.go.set()
    async with await Client.connect(server.address) as other:
        running = asyncio.create_task(Job().worker(client).run())
        await client.count_workflows()
        await client.close()
        await asyncio.wait([running])
        async with job.worker(other):
            await other.execute_workflow(one_job, id="w", task_queue="q")
    assert job.finished

"""A worker against a scripted server, on one loop and one fake clock."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tests.worker.fake_server import FakeServer
from towline.client import Client, Connection
from towline.testing.clock import FakeClock
from towline.testing.ids import SequenceIds
from towline.worker import Worker

MakeWorker = Callable[..., Worker]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(start_ms=5_000_000)


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


@pytest.fixture
async def client(server: FakeServer, clock: FakeClock) -> Client:
    return Client(Connection.local(server, clock=clock, ids=SequenceIds("worker")), identity="me")


@pytest.fixture
async def make_worker(client: Client) -> AsyncIterator[MakeWorker]:
    """Workers of queue "q" that are gone, without a drain, when the test ends."""

    def make(*activities: Any, **options: Any) -> Worker:
        return Worker(client, task_queue="q", activities=activities, **options)

    yield make
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)

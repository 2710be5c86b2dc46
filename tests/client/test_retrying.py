"""How long a call is repeated."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import pytest

from tests.client.fake_server import completed, page
from towline.api.workflow_service_pb2 import GetHistoryRequest
from towline.client.connection import Connection
from towline.client.retrying import RetryingCaller
from towline.client.transport.api import RpcError
from towline.rpc import METHODS
from towline.status import Status
from towline.testing.clock import FakeClock

HISTORY = METHODS["GetHistory"]


class Server:
    """A transport whose server goes away during each try: the n-th one lasts `lasting_ms[n]`. Later ones succeed."""

    def __init__(self, clock: FakeClock, *lasting_ms: int) -> None:
        self._clock = clock
        self._lasting_ms = list(lasting_ms)
        self.tried_at_ms: list[int] = []

    async def call(self, *_args: object, **_options: object) -> Any:
        self.tried_at_ms.append(self._clock.elapsed_ms)
        if not self._lasting_ms:
            return page(completed("done"))
        await self._clock.sleep(self._lasting_ms.pop(0))
        raise RpcError(Status.UNAVAILABLE, "it went away")

    async def close(self) -> None:
        """Nothing to let go of."""


@pytest.fixture
async def clock() -> AsyncIterator[FakeClock]:
    """Time that moves on as soon as everybody sleeps."""
    clock = FakeClock(1_000_000)

    async def move_on() -> None:
        while True:
            await clock.wait_for_timers()
            due_ms = clock.next_due_ms()
            assert due_ms is not None
            clock.advance(due_ms - clock.elapsed_ms)

    moving = asyncio.create_task(move_on())
    yield clock
    moving.cancel()


async def called(server: Server, clock: FakeClock) -> Any:
    caller = RetryingCaller(Connection(server, asyncio.get_running_loop(), clock=clock))
    return await caller.call(HISTORY, GetHistoryRequest())


async def test_the_last_failure_is_raised_when_no_server_came_back_for_30_s(clock: FakeClock) -> None:
    server = Server(clock, *[1] * 100)
    with pytest.raises(RpcError, match="it went away"):
        await called(server, clock)
    assert [late - early for early, late in pairwise(server.tried_at_ms)] == [
        *(101, 201, 401, 801, 1_601, 3_201),
        *[5_001] * 4,
    ]


async def test_a_long_poll_outlives_restarts_that_come_half_a_minute_apart(clock: FakeClock) -> None:
    server = Server(clock, 1, 1, 29_900, 1, 29_900, 29_900)
    assert await called(server, clock) == page(completed("done"))
    gaps = [late - early for early, late in pairwise(server.tried_at_ms)]
    assert gaps == [101, 201, 30_000, 201, 30_000, 30_000], "each restart is waited for from the beginning"

"""Code that blocks stops nobody else: the worker's own work has a thread for itself."""

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Sequence
from typing import Any

import pytest

from tests.worker.fake_server import FakeServer, values
from towline import activity
from towline.api.command_pb2 import Command
from towline.api.history_pb2 import HistoryEvent
from towline.api.task_service_pb2 import PollWorkflowTaskResponse
from towline.client import Client, Connection
from towline.client.io_thread import IoThread
from towline.client.transport.local import LocalTransport
from towline.testing.clock import FakeClock
from towline.worker import Worker


class Io:
    """An I/O thread with the server and the clock on it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.server = FakeServer()
        self.clock = FakeClock()
        self.client = Client(Connection(LocalTransport(self.server, clock=self.clock), loop, clock=self.clock))

    async def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.loop))

    def wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Block this thread, whatever loop it has, until the I/O thread has done the work."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    async def add_activity(self, activity_type: str, **fields: Any) -> None:
        self.server.add_activity(activity_type, **fields)

    async def beat_on(self, ms: int, heartbeats: int) -> None:
        """Wait until so many heartbeats have come in all and are answered, and move time on."""
        await self.server.called("RecordHeartbeat", heartbeats)
        for _ in range(20):
            await asyncio.sleep(0)
        self.clock.advance(ms)


@pytest.fixture
async def io() -> AsyncIterator[Io]:
    thread = IoThread("test-io")
    yield Io(thread.acquire())
    thread.release()


async def test_a_blocked_loop_stops_no_heartbeat_of_a_thread(io: Io) -> None:
    blocking, unblock = threading.Event(), threading.Event()

    @activity.defn
    async def block() -> str:
        blocking.set()
        unblock.wait()
        return "unblocked"

    @activity.defn
    def beat() -> str:
        blocking.wait()
        try:
            for n in range(1, 6):
                activity.heartbeat(n)
                io.wait(io.beat_on(900, n))
        finally:
            unblock.set()
        return "beaten"

    await io.do(io.add_activity("block"))
    await io.do(io.add_activity("beat", heartbeat_timeout_ms=1_000))
    worker = Worker(io.client, task_queue="q", activities=[block, beat])
    running = asyncio.create_task(worker.run())
    await io.do(io.server.called("CompleteActivityTask", 2))
    worker.shutdown()
    await running
    assert [values(sent.details) for sent in io.server.requests("RecordHeartbeat")] == [[1], [2], [3], [4], [5]]
    results = [values(request.result)[0] for request in io.server.requests("CompleteActivityTask")]
    assert sorted(results) == ["beaten", "unblocked"]


async def test_a_blocked_loop_stops_neither_polls_nor_the_drain(io: Io) -> None:
    seen: list[int] = []

    @activity.defn
    async def block() -> None:
        # While this holds the user's loop, a thread activity is polled for, run and reported.
        io.wait(io.add_activity("other"))
        io.wait(io.server.called("CompleteActivityTask"))
        worker.shutdown()
        io.wait(io.server.called("ShutdownWorker"))
        io.wait(io.server.until(lambda: io.server.polls_waiting == 0))
        seen.append(len(io.server.reports()))

    @activity.defn
    def other() -> None:
        pass

    await io.do(io.add_activity("block"))
    worker = Worker(io.client, task_queue="q", activities=[block, other])
    await worker.run()
    assert seen == [1]
    assert [name for name, _ in io.server.reports()] == ["CompleteActivityTask", "CompleteActivityTask"]


async def test_a_blocked_loop_does_not_hide_a_missed_heartbeat(io: Io) -> None:
    causes: list[activity.ActivityCancelled | None] = []

    @activity.defn
    async def block() -> str:
        io.wait(io.clock.wait_for_timer(1_000))
        io.loop.call_soon_threadsafe(io.clock.advance, 1_000)
        io.wait(asyncio.sleep(0))
        causes.append(activity.cancel_cause())
        return "too late"

    await io.do(io.add_activity("block", heartbeat_timeout_ms=1_000))
    worker = Worker(io.client, task_queue="q", activities=[block])
    running = asyncio.create_task(worker.run())
    await io.do(io.server.called("PollActivityTask", 3))
    worker.shutdown()
    await running
    assert isinstance(causes[0], activity.HeartbeatTimeout)
    assert io.server.reports() == []


async def test_a_workflow_that_computes_for_long_stops_no_activity(io: Io) -> None:
    class Slow:
        def handle_workflow_task(
            self, task: PollWorkflowTaskResponse, history: Sequence[HistoryEvent]
        ) -> list[Command]:
            io.wait(io.add_activity("quick"))
            io.wait(io.server.called("CompleteActivityTask"))
            return []

    @activity.defn
    async def quick() -> None:
        pass

    async def add_workflow_task() -> None:
        io.server.add_workflow_task()

    await io.do(add_workflow_task())
    worker = Worker(io.client, task_queue="q", activities=[quick], workflow_handler=Slow())
    running = asyncio.create_task(worker.run())
    await io.do(io.server.called("CompleteWorkflowTask"))
    worker.shutdown()
    await running
    assert [name for name, _ in io.server.reports()] == ["CompleteActivityTask", "CompleteWorkflowTask"]


async def test_many_activities_cross_the_threads_unharmed(io: Io) -> None:
    @activity.defn
    async def double(number: int) -> int:
        return 2 * number

    @activity.defn
    def triple(number: int) -> int:
        return 3 * number

    async def add_all() -> None:
        for n in range(300):
            io.server.add_activity("double" if n % 2 else "triple", n)

    await io.do(add_all())
    worker = Worker(io.client, task_queue="q", activities=[double, triple], max_concurrent_activities=20)
    async with worker:
        await io.do(io.server.called("CompleteActivityTask", 300))
    results = sorted(values(request.result)[0] for request in io.server.requests("CompleteActivityTask"))
    assert results == sorted(n * (2 if n % 2 else 3) for n in range(300))
    assert io.server.most_leased <= 20


async def test_cancelling_run_from_the_users_loop_drains_on_the_other(io: Io) -> None:
    began, go = asyncio.Event(), asyncio.Event()

    @activity.defn
    async def job() -> str:
        began.set()
        await go.wait()
        return "finished"

    await io.do(io.add_activity("job"))
    running = asyncio.create_task(Worker(io.client, task_queue="q", activities=[job]).run())
    await began.wait()
    running.cancel()
    await io.do(io.server.called("ShutdownWorker"))
    assert not running.done()
    go.set()
    await asyncio.wait([running])
    assert running.cancelled()
    assert [values(request.result) for _, request in io.server.reports()] == [["finished"]]

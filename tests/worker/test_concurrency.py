"""Never more tasks than slots, and never a lease without a slot."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.worker.conftest import MakeWorker
from tests.worker.fake_server import FakeServer
from towline import activity
from towline.client import Client, Connection
from towline.testing.clock import FakeClock
from towline.worker import Worker


class Rooms:
    """An activity whose runs a test lets go one by one."""

    def __init__(self, server: FakeServer) -> None:
        self.running: dict[str, asyncio.Event] = {}
        self.most_running = 0
        self._server = server

    @activity.defn
    async def stay(self) -> None:
        me = activity.info().activity_id
        self.running[me] = asyncio.Event()
        self.most_running = max(self.most_running, len(self.running))
        self._server.changed()
        await self.running[me].wait()
        del self.running[me]


async def test_worker_bounded_concurrency(server: FakeServer, make_worker: MakeWorker) -> None:
    rooms = Rooms(server)
    for _ in range(6):
        server.add_activity("stay")
    running = asyncio.create_task(make_worker(rooms.stay, max_concurrent_activities=2).run())
    for left in (4, 3, 2, 1, 0):
        await server.until(lambda: len(rooms.running) == 2)
        assert (len(server.leased), server.waiting_tasks()) == (2, left)
        next(iter(rooms.running.values())).set()
        await server.called("CompleteActivityTask", 5 - left)
    await server.until(lambda: len(rooms.running) == 1)
    next(iter(rooms.running.values())).set()
    await server.called("CompleteActivityTask", 6)
    assert rooms.most_running == 2
    assert server.most_leased == 2
    assert not running.done()


async def test_a_full_worker_does_not_poll(server: FakeServer, make_worker: MakeWorker) -> None:
    rooms = Rooms(server)
    server.add_activity("stay")
    running = asyncio.create_task(make_worker(rooms.stay, max_concurrent_activities=1).run())
    await server.until(lambda: len(rooms.running) == 1)
    for _ in range(10):
        await asyncio.sleep(0)
    assert len(server.requests("PollActivityTask")) == 1
    rooms.running["1"].set()
    await server.called("PollActivityTask", 2)
    assert not running.done()


async def test_a_slot_is_free_only_after_the_report(server: FakeServer, make_worker: MakeWorker) -> None:
    rooms = Rooms(server)
    reporting = server.hold("CompleteActivityTask")
    server.add_activity("stay")
    server.add_activity("stay")
    running = asyncio.create_task(make_worker(rooms.stay, max_concurrent_activities=1).run())
    await server.until(lambda: "1" in rooms.running)
    rooms.running["1"].set()
    await server.called("CompleteActivityTask")
    assert (len(server.leased), server.waiting_tasks()) == (1, 1)
    reporting.set()
    await server.until(lambda: "2" in rooms.running)
    assert server.most_leased == 1
    assert not running.done()


@settings(max_examples=25, deadline=None)
@given(slots=st.integers(1, 5), polls=st.integers(1, 4), tasks=st.integers(1, 12), data=st.data())
def test_no_schedule_exceeds_the_slots(slots: int, polls: int, tasks: int, data: st.DataObject) -> None:
    async def scenario() -> None:
        server = FakeServer()
        client = Client(Connection.local(server, clock=FakeClock()))
        rooms = Rooms(server)
        worker = Worker(
            client,
            task_queue="q",
            activities=[rooms.stay],
            max_concurrent_activities=slots,
            max_concurrent_activity_task_polls=polls,
        )
        for _ in range(tasks):
            server.add_activity("stay")
        running = asyncio.create_task(worker.run())
        for done in range(tasks):
            expected = min(slots, tasks - done)
            await server.until(lambda expected=expected: len(rooms.running) == expected)  # type: ignore[misc]
            assert len(server.leased) == expected
            name = data.draw(st.sampled_from(sorted(rooms.running)))
            rooms.running[name].set()
            await server.called("CompleteActivityTask", done + 1)
        worker.shutdown()
        await running
        assert server.most_leased == min(slots, tasks)
        assert rooms.most_running == min(slots, tasks)
        assert not server.leased

    asyncio.run(scenario())

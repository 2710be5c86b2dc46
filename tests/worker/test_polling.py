"""Polls that fail, for a while or for good."""

import asyncio

import pytest

from tests.worker.conftest import MakeWorker
from tests.worker.fake_server import FakeServer
from towline import activity
from towline.status import Status
from towline.testing.clock import FakeClock
from towline.worker import WorkerRefused


@activity.defn
async def nothing() -> None:
    pass


async def test_failed_polls_are_made_again_with_growing_delays(
    server: FakeServer, clock: FakeClock, make_worker: MakeWorker
) -> None:
    server.fail("PollActivityTask", Status.UNAVAILABLE, times=8)
    running = asyncio.create_task(make_worker(nothing, max_concurrent_activity_task_polls=1).run())
    for polls, delay_ms in enumerate((100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000), start=1):
        await clock.wait_for_timer(delay_ms)
        clock.advance(delay_ms - 1)
        await asyncio.sleep(0)
        assert len(server.requests("PollActivityTask")) == polls
        clock.advance(1)
        await server.called("PollActivityTask", polls + 1)
    server.add_activity("nothing")
    await server.called("CompleteActivityTask")
    assert not running.done()


async def test_a_good_poll_starts_the_delays_anew(
    server: FakeServer, clock: FakeClock, make_worker: MakeWorker
) -> None:
    server.fail("PollActivityTask", Status.UNAVAILABLE, times=2)
    running = asyncio.create_task(make_worker(nothing, max_concurrent_activity_task_polls=1).run())
    for delay_ms in (100, 200):
        await clock.wait_for_timer(delay_ms)
        clock.advance(delay_ms)
    await server.called("PollActivityTask", 3)
    server.fail("PollActivityTask", Status.UNAVAILABLE)
    server.add_activity("nothing")
    await server.called("PollActivityTask", 4)
    await clock.wait_for_timer(100)
    assert not running.done()


async def test_empty_answers_that_come_at_once_do_not_make_a_busy_loop(
    server: FakeServer, clock: FakeClock, make_worker: MakeWorker
) -> None:
    server._stopped = True
    running = asyncio.create_task(make_worker(nothing, max_concurrent_activity_task_polls=1).run())
    await clock.wait_for_timer(100)
    assert len(server.requests("PollActivityTask")) == 1
    clock.advance(100)
    await server.called("PollActivityTask", 2)
    assert not running.done()


@pytest.mark.parametrize(
    "status", [Status.UNAUTHENTICATED, Status.PERMISSION_DENIED, Status.NOT_FOUND, Status.INVALID_ARGUMENT]
)
async def test_permanent_refusal_stops_the_worker(status: Status, server: FakeServer, make_worker: MakeWorker) -> None:
    server.fail("PollActivityTask", status, message="namespace 'default' is not here")
    with pytest.raises(WorkerRefused, match="for good") as refused:
        await make_worker(nothing).run()
    assert refused.value.status is status
    assert "namespace 'default' is not here" in str(refused.value)
    assert "'q'" in str(refused.value)


async def test_a_refused_worker_still_drains(server: FakeServer, make_worker: MakeWorker) -> None:
    began, go = asyncio.Event(), asyncio.Event()

    @activity.defn
    async def job() -> None:
        began.set()
        await go.wait()

    server.add_activity("job")
    running = asyncio.create_task(make_worker(job, max_concurrent_activity_task_polls=1).run())
    await server.until(lambda: server.polls_waiting == 1)
    server.fail("PollActivityTask", Status.PERMISSION_DENIED)
    server.add_activity("job")
    await began.wait()
    await server.called("ShutdownWorker")
    assert not running.done()
    go.set()
    with pytest.raises(WorkerRefused):
        await running
    assert [name for name, _ in server.reports()] == ["CompleteActivityTask", "CompleteActivityTask"]


async def test_a_refused_worker_cancels_its_block(server: FakeServer, make_worker: MakeWorker) -> None:
    server.fail("PollActivityTask", Status.NOT_FOUND)
    with pytest.raises(WorkerRefused):
        async with make_worker(nothing):
            await asyncio.Event().wait()
    current = asyncio.current_task()
    assert current is not None
    assert current.cancelling() == 0


async def test_polls_say_who_asks(server: FakeServer, make_worker: MakeWorker) -> None:
    running = asyncio.create_task(make_worker(nothing, identity="the worker").run())
    poll = await server.called("PollActivityTask")
    assert (poll.namespace, poll.task_queue, poll.identity) == ("default", "q", "the worker")
    assert server.requests("PollWorkflowTask") == []
    assert not running.done()

"""How a worker stops."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.worker.conftest import MakeWorker
from tests.worker.fake_server import FakeServer, values
from towline import activity
from towline.status import Status
from towline.testing.clock import FakeClock
from towline.worker import Worker

Stop = Callable[[Worker, "asyncio.Task[None]"], object]
STOPS: list[Stop] = [lambda worker, running: worker.shutdown(), lambda worker, running: running.cancel()]
BY_SHUTDOWN, BY_CANCELLATION = STOPS


class Job:
    """An activity that goes on until the test lets it end."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.go = asyncio.Event()
        self.cause: activity.ActivityCancelled | None = None

    @activity.defn
    async def job(self) -> str:
        self.began.set()
        try:
            await self.go.wait()
        finally:
            self.cause = activity.cancel_cause()
        return "finished"


@pytest.fixture
def job() -> Job:
    return Job()


async def _start(worker: Worker, server: FakeServer, job: Job) -> "asyncio.Task[None]":
    server.add_activity("job")
    running = asyncio.create_task(worker.run())
    await job.began.wait()
    return running


@pytest.mark.parametrize("stop", STOPS, ids=["shutdown", "cancellation"])
async def test_worker_drains_on_cancel(stop: Stop, server: FakeServer, make_worker: MakeWorker, job: Job) -> None:
    worker = make_worker(job.job)
    running = await _start(worker, server, job)
    await server.until(lambda: server.polls_waiting == 2)
    stop(worker, running)
    told = await server.called("ShutdownWorker")
    assert told.worker_instance_key == server.requests("PollActivityTask")[0].worker_instance_key == "worker-1"
    await server.until(lambda: server.polls_waiting == 0)
    polls = len(server.requests("PollActivityTask"))
    server.add_activity("job")
    assert server.reports() == []
    reporting = server.hold("CompleteActivityTask")
    job.go.set()
    await server.until(lambda: bool(server.reports()))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not running.done(), "the activity has not reported yet"
    reporting.set()
    await asyncio.wait([running])
    assert job.cause is None
    assert [(name, values(request.result)) for name, request in server.reports()] == [
        ("CompleteActivityTask", ["finished"])
    ]
    assert len(server.requests("PollActivityTask")) == polls
    assert server.waiting_tasks() == 1
    assert running.cancelled() is (stop is BY_CANCELLATION)
    if stop is BY_SHUTDOWN:
        assert running.result() is None


async def test_an_idle_worker_stops_at_once(server: FakeServer, make_worker: MakeWorker, job: Job) -> None:
    worker = make_worker(job.job)
    running = asyncio.create_task(worker.run())
    await server.until(lambda: server.polls_waiting == 2)
    worker.shutdown()
    await running
    assert server.polls_waiting == 0


async def test_shutdown_before_run_polls_nothing(server: FakeServer, make_worker: MakeWorker, job: Job) -> None:
    worker = make_worker(job.job)
    worker.shutdown()
    await worker.run()
    assert server.requests("PollActivityTask") == []


async def test_running_twice_is_refused(make_worker: MakeWorker, job: Job) -> None:
    worker = make_worker(job.job)
    worker.shutdown()
    await worker.run()
    with pytest.raises(RuntimeError, match="make another one"):
        await worker.run()


async def test_drain_timeout_cancels_and_the_failure_is_reported(
    server: FakeServer, clock: FakeClock, make_worker: MakeWorker, job: Job
) -> None:
    worker = make_worker(job.job, drain_timeout=timedelta(seconds=20))
    running = await _start(worker, server, job)
    worker.shutdown()
    await clock.wait_for_timer(20_000)
    clock.advance(19_999)
    await asyncio.sleep(0)
    assert job.cause is None
    clock.advance(1)
    await running
    assert isinstance(job.cause, activity.WorkerShutdown)
    [(name, request)] = server.reports()
    assert name == "FailActivityTask"
    assert request.failure.application_failure_info.type == "WorkerShutdown"
    assert not request.failure.application_failure_info.non_retryable
    assert request.failure.message == "the worker stops, and its drain time-out is over"


@pytest.mark.parametrize("second", STOPS, ids=["shutdown", "cancellation"])
@pytest.mark.parametrize("first", STOPS, ids=["shutdown", "cancellation"])
async def test_second_request_cancels_now(
    first: Stop, second: Stop, server: FakeServer, make_worker: MakeWorker, job: Job
) -> None:
    worker = make_worker(job.job)
    running = await _start(worker, server, job)
    first(worker, running)
    await server.called("ShutdownWorker")
    second(worker, running)
    await asyncio.wait([running])
    assert isinstance(job.cause, activity.WorkerShutdown)
    [(name, request)] = server.reports()
    assert name == "FailActivityTask"
    assert request.failure.message == "the worker was told twice to stop, so it does not wait for its activities"
    assert ", in job\n" in request.failure.stack_trace
    assert not request.failure.HasField("cause"), "said once"


async def test_code_that_ignores_its_cancellation_is_abandoned(
    server: FakeServer, clock: FakeClock, make_worker: MakeWorker
) -> None:
    began, over = asyncio.Event(), asyncio.Event()

    @activity.defn
    async def deaf() -> None:
        began.set()
        while not over.is_set():
            try:
                await over.wait()
            except asyncio.CancelledError:
                continue

    server.add_activity("deaf")
    worker = make_worker(deaf)
    running = asyncio.create_task(worker.run())
    await began.wait()
    worker.shutdown()
    worker.shutdown()
    await clock.wait_for_timer(3_000)
    assert not running.done()
    clock.advance(3_000)
    await running
    assert server.reports() == []
    over.set()


@pytest.mark.parametrize("tasks", [1, 7, 100])
async def test_tasks_that_arrive_at_the_stop_are_run_or_handed_back(
    tasks: int, server: FakeServer, make_worker: MakeWorker
) -> None:
    ran: list[str] = []

    @activity.defn
    async def note() -> None:
        ran.append(activity.info().activity_id)

    delivered = server.hold("PollActivityTask")
    worker = make_worker(note, max_concurrent_activity_task_polls=100)
    running = asyncio.create_task(worker.run())
    await server.called("PollActivityTask", 100)
    sent = {server.add_activity("note").task_token for _ in range(tasks)}
    worker.shutdown()
    await server.called("ShutdownWorker")
    delivered.set()
    await running
    released = {request.task_token for request in server.requests("ReleaseTask")}
    completed = {request.task_token for request in server.requests("CompleteActivityTask")}
    assert released | completed == sent
    assert len(released) + len(completed) == len(server.reports()) == tasks
    assert len(completed) == len(ran)
    assert not server.leased


async def test_handing_back_is_tried_again_while_the_server_is_away(
    server: FakeServer, clock: FakeClock, make_worker: MakeWorker, job: Job
) -> None:
    delivered = server.hold("PollActivityTask")
    server.fail("ReleaseTask", Status.UNAVAILABLE)
    worker = make_worker(job.job, max_concurrent_activity_task_polls=1)
    running = asyncio.create_task(worker.run())
    await server.called("PollActivityTask")
    server.add_activity("job")
    worker.shutdown()
    await server.called("ShutdownWorker")
    delivered.set()
    await server.called("ReleaseTask")
    await clock.wait_for_timer(100)
    clock.advance(100)
    await running
    assert len(server.requests("ReleaseTask")) == 2


async def test_polls_are_cancelled_if_the_server_does_not_know_how_to_end_them(
    server: FakeServer, make_worker: MakeWorker, job: Job
) -> None:
    server.fail("ShutdownWorker", Status.UNIMPLEMENTED)
    worker = make_worker(job.job)
    running = asyncio.create_task(worker.run())
    await server.until(lambda: server.polls_waiting == 2)
    worker.shutdown()
    await running
    assert server.polls_waiting == 0


async def test_a_block_runs_the_worker_and_drains_it(server: FakeServer, make_worker: MakeWorker, job: Job) -> None:
    async with make_worker(job.job):
        server.add_activity("job")
        await job.began.wait()
        job.go.set()
    assert [name for name, _ in server.reports()] == ["CompleteActivityTask"]
    assert len(server.requests("ShutdownWorker")) == 1


async def test_cancelling_a_block_drains_too(server: FakeServer, make_worker: MakeWorker, job: Job) -> None:
    async def block() -> None:
        async with make_worker(job.job):
            server.add_activity("job")
            await asyncio.Event().wait()

    blocked = asyncio.create_task(block())
    await job.began.wait()
    blocked.cancel()
    await server.called("ShutdownWorker")
    assert not blocked.done()
    job.go.set()
    with pytest.raises(asyncio.CancelledError):
        await blocked
    assert [name for name, _ in server.reports()] == ["CompleteActivityTask"]

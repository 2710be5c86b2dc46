"""Reports: sent until they are taken, refused, or too late."""

import asyncio

import pytest

from tests.worker.conftest import MakeWorker
from tests.worker.fake_server import FakeServer, values
from towline import activity
from towline.status import Status
from towline.testing.clock import FakeClock


@activity.defn
async def answer() -> int:
    return 42


@pytest.mark.parametrize("status", [Status.UNAVAILABLE, Status.DEADLINE_EXCEEDED, Status.INTERNAL])
async def test_reports_are_tried_again_while_the_server_is_away(
    status: Status, server: FakeServer, clock: FakeClock, make_worker: MakeWorker
) -> None:
    server.fail("CompleteActivityTask", status, times=3)
    task = server.add_activity("answer")
    running = asyncio.create_task(make_worker(answer).run())
    for tries, delay_ms in enumerate((100, 200, 400), start=1):
        await server.called("CompleteActivityTask", tries)
        await clock.wait_for_timer(delay_ms)
        clock.advance(delay_ms)
    last = await server.called("CompleteActivityTask", 4)
    assert (last.task_token, last.lease_token, last.identity) == (task.task_token, task.lease_token, "me")
    assert values(last.result) == [42]
    assert not running.done()


async def test_reports_are_given_up_at_the_deadline(
    server: FakeServer, clock: FakeClock, make_worker: MakeWorker
) -> None:
    server.fail("CompleteActivityTask", Status.UNAVAILABLE, times=1_000)
    server.add_activity("answer", started_time_ms=70, deadline_ms=1_070)
    worker = make_worker(answer, max_concurrent_activities=1, max_concurrent_activity_task_polls=1)
    running = asyncio.create_task(worker.run())
    for tries, delay_ms in enumerate((100, 200, 400, 300), start=1):
        await server.called("CompleteActivityTask", tries)
        await clock.wait_for_timer(delay_ms)
        clock.advance(delay_ms)
    await server.called("PollActivityTask", 2)
    assert len(server.requests("CompleteActivityTask")) == 5
    assert not running.done()


@pytest.mark.parametrize("status", [Status.FAILED_PRECONDITION, Status.NOT_FOUND])
async def test_a_fenced_report_is_dropped(status: Status, server: FakeServer, make_worker: MakeWorker) -> None:
    server.fail("CompleteActivityTask", status)
    server.add_activity("answer")
    worker = make_worker(answer, max_concurrent_activities=1)
    running = asyncio.create_task(worker.run())
    await server.called("PollActivityTask", 2)
    assert [name for name, _ in server.reports()] == ["CompleteActivityTask"]
    assert not running.done()


async def test_a_refused_result_fails_the_attempt_for_good(server: FakeServer, make_worker: MakeWorker) -> None:
    server.fail("CompleteActivityTask", Status.INVALID_ARGUMENT, message="the result is 3 MiB, the limit is 2 MiB")
    server.add_activity("answer")
    running = asyncio.create_task(make_worker(answer).run())
    failed = await server.called("FailActivityTask")
    assert "the result is 3 MiB, the limit is 2 MiB" in failed.failure.message
    assert failed.failure.application_failure_info.type == "ResultRefused"
    assert failed.failure.application_failure_info.non_retryable
    assert not running.done()


async def test_a_refused_failure_costs_no_more_than_its_attempt(server: FakeServer, make_worker: MakeWorker) -> None:
    @activity.defn
    async def broken() -> None:
        raise ValueError("broken")

    server.fail("FailActivityTask", Status.INVALID_ARGUMENT)
    server.add_activity("broken")
    server.add_activity("answer")
    running = asyncio.create_task(make_worker(broken, answer, max_concurrent_activities=1).run())
    assert values((await server.called("CompleteActivityTask")).result) == [42]
    assert not running.done()

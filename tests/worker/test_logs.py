"""What a worker says of what goes wrong."""

import asyncio
from collections.abc import Iterator, MutableMapping
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.worker.conftest import MakeWorker
from tests.worker.fake_server import FakeServer
from tests.worker.test_workflow_tasks import Handler
from towline import activity
from towline.api.task_service_pb2 import PollWorkflowTaskResponse
from towline.status import Status
from towline.testing.clock import FakeClock

Log = list[MutableMapping[str, Any]]


@pytest.fixture
def log() -> Iterator[Log]:
    with capture_logs() as entries:
        yield entries


@activity.defn
async def ship(address: str) -> None:
    addresses: dict[str, int] = {}
    try:
        addresses[address]
    except KeyError as error:
        raise ValueError(f"no such address: {address}") from error


async def test_each_failed_attempt_is_told_with_its_error_and_traceback(
    log: Log, server: FakeServer, make_worker: MakeWorker
) -> None:
    server.add_activity("ship", "moon", attempt=3)
    running = asyncio.create_task(make_worker(ship).run())
    await server.called("FailActivityTask")
    [entry] = log
    stack = entry.pop("stack")
    assert entry == {
        "event": "activity attempt failed",
        "log_level": "warning",
        "task_queue": "q",
        "activity_type": "ship",
        "activity_id": "1",
        "workflow_id": "order-7",
        "run_id": "run-1",
        "attempt": 3,
        "reason": "ValueError: no such address: moon",
    }
    assert stack.startswith("Traceback (most recent call last):\n")
    assert ", in ship\n" in stack
    assert "ValueError: no such address: moon\n\ncaused by\n\nTraceback" in stack
    assert stack.endswith("KeyError: 'moon'")
    assert not running.done()


async def test_an_unknown_activity_is_told_too(log: Log, server: FakeServer, make_worker: MakeWorker) -> None:
    server.add_activity("sihp", "moon")
    running = asyncio.create_task(make_worker(ship).run())
    await server.called("FailActivityTask")
    assert [entry["reason"].partition(" is not")[0] for entry in log] == ["ActivityNotRegistered: activity 'sihp'"]
    assert not running.done()


async def test_a_lost_attempt_says_why(log: Log, server: FakeServer, clock: FakeClock, make_worker: MakeWorker) -> None:
    began = asyncio.Event()

    @activity.defn
    async def wait() -> None:
        began.set()
        await asyncio.Event().wait()

    server.add_activity("wait")
    worker = make_worker(wait, max_concurrent_activities=1)
    running = asyncio.create_task(worker.run())
    await began.wait()
    clock.advance(60_000)
    await server.called("PollActivityTask", 2)
    [entry] = log
    assert entry["event"] == "activity not reported"
    assert entry["reason"] == "the attempt took longer than its time-out allows"
    assert (entry["workflow_id"], entry["activity_type"], entry["attempt"]) == ("order-7", "wait", 1)
    assert not running.done()


async def test_a_failed_workflow_task_names_the_type_of_its_error(
    log: Log, server: FakeServer, make_worker: MakeWorker
) -> None:
    def decide(task: PollWorkflowTaskResponse) -> Any:
        return list(task.history.events)[7]

    server.add_workflow_task()
    running = asyncio.create_task(make_worker(workflow_handler=Handler(decide)).run())
    await server.called("FailWorkflowTask")
    assert [entry["reason"] for entry in log] == ["IndexError: list index out of range"]
    assert log[0]["stack"].endswith("IndexError: list index out of range")
    assert not running.done()


async def test_an_outage_is_told_once_for_all_pollers_and_so_is_its_end(
    log: Log, server: FakeServer, clock: FakeClock, make_worker: MakeWorker
) -> None:
    server.fail("PollActivityTask", Status.UNAVAILABLE, times=4, message="localhost:7470: connection refused")
    server.fail("PollWorkflowTask", Status.UNAVAILABLE, times=4, message="localhost:7470: connection refused")
    running = asyncio.create_task(make_worker(ship, workflow_handler=Handler()).run())
    for delay_ms in (100, 200):
        await clock.wait_for_timer(delay_ms, count=4)
        clock.advance(delay_ms)
    await server.until(lambda: server.polls_waiting == 4)
    assert [(entry["log_level"], entry["reason"]) for entry in log] == [
        ("warning", "localhost:7470: connection refused")
    ]
    clock.advance(3_000)
    assert [(entry["log_level"], entry["event"]) for entry in log[1:]] == [("info", "connected again after 0.3 s")]
    server.add_activity("ship", "moon")
    await server.called("FailActivityTask")
    assert [entry["event"] for entry in log[2:]] == ["activity attempt failed"]
    assert not running.done()


async def test_an_answer_ends_the_outage_and_the_next_one_is_told_again(
    log: Log, server: FakeServer, clock: FakeClock, make_worker: MakeWorker
) -> None:
    server.fail("PollActivityTask", Status.UNAVAILABLE)
    running = asyncio.create_task(make_worker(ship, max_concurrent_activity_task_polls=1).run())
    await clock.wait_for_timer(100)
    server.add_activity("sihp")
    clock.advance(100)
    await server.called("PollActivityTask", 2)
    server.fail("PollActivityTask", Status.UNAVAILABLE)
    await clock.wait_for_timer(100)
    levels = [entry["log_level"] for entry in log if "attempt" not in entry]
    assert levels == ["warning", "info", "warning"]
    assert not running.done()

"""Heartbeats: which are sent, and what happens when none comes."""

import asyncio
from typing import Any

import pytest

from tests.worker.conftest import MakeWorker
from tests.worker.fake_server import FakeServer, values
from towline import activity
from towline.api.task_service_pb2 import RecordHeartbeatResponse
from towline.status import Status
from towline.testing.clock import FakeClock


class Patient:
    """An activity that does what the test tells it, step by step."""

    def __init__(self) -> None:
        self.steps: asyncio.Queue[Any] = asyncio.Queue()
        self.began = asyncio.Event()
        self.cause: activity.ActivityCancelled | None = None
        self.told: tuple[object, ...] = ()
        self.cancelled = asyncio.Event()

    @activity.defn
    async def work(self) -> object:
        self.began.set()
        while True:
            try:
                step = await self.steps.get()
            except asyncio.CancelledError as error:
                if activity.cancel_cause() is self.cause:
                    raise  # the test is over
                self.cause = activity.cancel_cause()
                self.told = error.args
                self.cancelled.set()
                continue
            if isinstance(step, BaseException):
                raise step
            if isinstance(step, tuple):
                activity.heartbeat(*step)
            else:
                return step

    async def beat(self, *details: object) -> None:
        """Heartbeat, and let it reach the worker."""
        self.steps.put_nowait(details)
        await _turns()


async def _turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.fixture
def patient() -> Patient:
    return Patient()


async def _begin(patient: Patient, server: FakeServer, make_worker: MakeWorker, *, timeout_ms: int = 1_000) -> Any:
    server.add_activity("work", heartbeat_timeout_ms=timeout_ms)
    worker = make_worker(patient.work)
    running = asyncio.create_task(worker.run())
    await patient.began.wait()

    async def drained() -> None:
        worker.shutdown()
        await running

    return drained


@pytest.mark.parametrize("ending", ["value", "error", "swallow nothing"])
async def test_missed_heartbeat_cancels_activity(
    ending: str, patient: Patient, server: FakeServer, clock: FakeClock, make_worker: MakeWorker
) -> None:
    drained = await _begin(patient, server, make_worker)
    clock.advance(999)
    await _turns()
    assert not patient.cancelled.is_set()
    clock.advance(1)
    await patient.cancelled.wait()
    assert isinstance(patient.cause, activity.HeartbeatTimeout)
    assert patient.told == (patient.cause,)
    await patient.beat("too late")
    if ending == "error":
        patient.steps.put_nowait(ValueError("on its way out"))
    else:
        patient.steps.put_nowait("done after all" if ending == "value" else asyncio.CancelledError())
    await drained()
    assert server.reports() == []
    assert server.requests("RecordHeartbeat") == []


async def test_a_worker_may_have_a_clock_of_its_own(
    patient: Patient, server: FakeServer, clock: FakeClock, make_worker: MakeWorker
) -> None:
    server.add_activity("work", heartbeat_timeout_ms=1_000)
    own = FakeClock(start_ms=5_000_000)
    running = asyncio.create_task(make_worker(patient.work, clock=own).run())
    await patient.began.wait()
    clock.advance(60_000)  # the connection's: nothing of the worker's hangs on it
    await _turns()
    assert not patient.cancelled.is_set()
    own.advance(1_000)
    await patient.cancelled.wait()
    assert isinstance(patient.cause, activity.HeartbeatTimeout)
    running.cancel()


async def test_each_heartbeat_buys_the_whole_timeout(
    patient: Patient, server: FakeServer, clock: FakeClock, make_worker: MakeWorker
) -> None:
    await _begin(patient, server, make_worker)
    for _ in range(5):
        clock.advance(900)
        await patient.beat()
    clock.advance(999)
    await _turns()
    assert not patient.cancelled.is_set()
    clock.advance(1)
    await patient.cancelled.wait()
    assert isinstance(patient.cause, activity.HeartbeatTimeout)


async def test_first_heartbeat_goes_at_once_and_then_the_newest_once_per_window(
    patient: Patient, server: FakeServer, clock: FakeClock, make_worker: MakeWorker
) -> None:
    await _begin(patient, server, make_worker)
    await patient.beat(1)
    assert [values(sent.details) for sent in server.requests("RecordHeartbeat")] == [[1]]
    await patient.beat(2)
    await patient.beat(3)
    clock.advance(799)
    await _turns()
    assert len(server.requests("RecordHeartbeat")) == 1
    clock.advance(1)
    await _turns()
    assert [values(sent.details) for sent in server.requests("RecordHeartbeat")] == [[1], [3]]
    clock.advance(150)
    await patient.beat(4)
    clock.advance(649)
    await _turns()
    assert len(server.requests("RecordHeartbeat")) == 2
    clock.advance(1)
    await _turns()
    assert values(server.requests("RecordHeartbeat")[2].details) == [4]


async def test_unsent_details_go_along_with_the_failure(
    patient: Patient, server: FakeServer, make_worker: MakeWorker
) -> None:
    await _begin(patient, server, make_worker)
    await patient.beat(1)
    patient.steps.put_nowait((2,))
    patient.steps.put_nowait(ValueError("broken"))
    failed = await server.called("FailActivityTask")
    assert values(failed.last_heartbeat_details) == [2]
    assert failed.failure.application_failure_info.type == "ValueError"
    assert len(server.requests("RecordHeartbeat")) == 1


async def test_details_that_arrived_are_not_sent_again(
    patient: Patient, server: FakeServer, make_worker: MakeWorker
) -> None:
    await _begin(patient, server, make_worker)
    await patient.beat(1)
    await patient.beat()
    patient.steps.put_nowait(ValueError("broken"))
    failed = await server.called("FailActivityTask")
    assert not failed.HasField("last_heartbeat_details")


async def test_details_still_on_their_way_go_along_with_the_failure(
    patient: Patient, server: FakeServer, make_worker: MakeWorker
) -> None:
    server.hold("RecordHeartbeat")
    await _begin(patient, server, make_worker)
    await patient.beat(1)
    patient.steps.put_nowait(ValueError("broken"))
    assert values((await server.called("FailActivityTask")).last_heartbeat_details) == [1]


async def test_newer_details_survive_the_arrival_of_older_ones(
    patient: Patient, server: FakeServer, make_worker: MakeWorker
) -> None:
    arriving = server.hold("RecordHeartbeat")
    await _begin(patient, server, make_worker)
    await patient.beat(1)
    await patient.beat(2)
    arriving.set()
    await _turns()
    patient.steps.put_nowait(ValueError("broken"))
    assert values((await server.called("FailActivityTask")).last_heartbeat_details) == [2]


async def test_a_heartbeat_on_its_way_is_given_up_when_the_activity_ends(
    patient: Patient, server: FakeServer, make_worker: MakeWorker
) -> None:
    server.hold("RecordHeartbeat")
    await _begin(patient, server, make_worker)
    await patient.beat(1)
    patient.steps.put_nowait("done")
    await server.called("CompleteActivityTask")
    assert server.given_up == ["RecordHeartbeat"]


async def test_refused_heartbeat_means_lease_lost(
    patient: Patient, server: FakeServer, make_worker: MakeWorker
) -> None:
    server.fail("RecordHeartbeat", Status.FAILED_PRECONDITION, message="attempt 2 runs")
    drained = await _begin(patient, server, make_worker)
    await patient.beat(1)
    await patient.cancelled.wait()
    assert isinstance(patient.cause, activity.LeaseLost)
    assert "attempt 2 runs" in str(patient.cause)
    patient.steps.put_nowait("done after all")
    await drained()
    assert server.reports() == []


async def test_cancel_request_reaches_the_activity_and_its_failure_says_cancelled(
    patient: Patient, server: FakeServer, make_worker: MakeWorker
) -> None:
    server.answer("RecordHeartbeat", lambda _: RecordHeartbeatResponse(cancel_requested=True))
    await _begin(patient, server, make_worker)
    await patient.beat(1)
    await patient.cancelled.wait()
    assert isinstance(patient.cause, activity.CancelRequested)
    patient.steps.put_nowait(asyncio.CancelledError())
    failed = await server.called("FailActivityTask")
    assert failed.failure.WhichOneof("failure_info") == "canceled_failure_info"


async def test_an_activity_that_ignores_a_cancel_request_may_still_complete(
    patient: Patient, server: FakeServer, make_worker: MakeWorker
) -> None:
    server.answer("RecordHeartbeat", lambda _: RecordHeartbeatResponse(cancel_requested=True))
    await _begin(patient, server, make_worker)
    await patient.beat(1)
    await patient.cancelled.wait()
    patient.steps.put_nowait("done after all")
    assert values((await server.called("CompleteActivityTask")).result) == ["done after all"]


async def test_an_activity_that_ignored_one_cause_is_told_the_next(
    patient: Patient, server: FakeServer, clock: FakeClock, make_worker: MakeWorker
) -> None:
    server.answer("RecordHeartbeat", lambda _: RecordHeartbeatResponse(cancel_requested=True))
    drained = await _begin(patient, server, make_worker)
    await patient.beat(1)
    await patient.cancelled.wait()
    patient.cancelled.clear()
    clock.advance(1_000)
    await patient.cancelled.wait()
    assert isinstance(patient.cause, activity.HeartbeatTimeout)
    patient.steps.put_nowait("too late")
    await drained()
    assert server.reports() == []


async def test_heartbeats_are_tried_again_while_the_server_is_away(
    patient: Patient, server: FakeServer, clock: FakeClock, make_worker: MakeWorker
) -> None:
    server.fail("RecordHeartbeat", Status.UNAVAILABLE, times=2)
    await _begin(patient, server, make_worker)
    await patient.beat(1)
    clock.advance(100)
    await _turns()
    await patient.beat(2)
    clock.advance(200)
    await _turns()
    assert [values(sent.details) for sent in server.requests("RecordHeartbeat")] == [[1], [1], [2]]
    assert not patient.cancelled.is_set()


async def test_a_lease_that_cannot_be_renewed_ends_with_the_timeout(
    patient: Patient, server: FakeServer, clock: FakeClock, make_worker: MakeWorker
) -> None:
    server.fail("RecordHeartbeat", Status.UNAVAILABLE, times=100)
    await _begin(patient, server, make_worker)
    for _ in range(19):
        await patient.beat("alive")
        clock.advance(50)
        await _turns()
    assert not patient.cancelled.is_set()
    await patient.beat("alive")
    clock.advance(50)
    await patient.cancelled.wait()
    assert isinstance(patient.cause, activity.HeartbeatTimeout)


async def test_without_a_timeout_details_are_sent_and_nothing_is_watched(
    patient: Patient, server: FakeServer, clock: FakeClock, make_worker: MakeWorker
) -> None:
    await _begin(patient, server, make_worker, timeout_ms=0)
    await patient.beat(1)
    await patient.beat(2)
    assert [values(sent.details) for sent in server.requests("RecordHeartbeat")] == [[1]]
    clock.advance(30_000)
    await _turns()
    assert [values(sent.details) for sent in server.requests("RecordHeartbeat")] == [[1], [2]]
    assert not patient.cancelled.is_set()


async def test_an_attempt_past_its_deadline_is_cancelled_and_not_reported(
    patient: Patient, server: FakeServer, clock: FakeClock, make_worker: MakeWorker
) -> None:
    drained = await _begin(patient, server, make_worker, timeout_ms=0)
    clock.advance(59_999)
    await _turns()
    assert not patient.cancelled.is_set()
    clock.advance(1)
    await patient.cancelled.wait()
    assert isinstance(patient.cause, activity.DeadlinePassed)
    patient.steps.put_nowait("too late")
    await drained()
    assert server.reports() == []


async def test_oversized_details_are_refused_where_they_are_given(
    patient: Patient, server: FakeServer, make_worker: MakeWorker
) -> None:
    await _begin(patient, server, make_worker)
    patient.steps.put_nowait((b"x" * (2 * 1024 * 1024 + 1),))
    failed = await server.called("FailActivityTask")
    assert "the limit is 2097152" in failed.failure.message
    assert server.requests("RecordHeartbeat") == []

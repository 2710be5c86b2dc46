"""What activities get, and what becomes of what they do."""

import asyncio
import sys
import threading
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from tests.worker.conftest import MakeWorker
from tests.worker.fake_server import FakeServer, payloads, values
from towline import activity
from towline.api.task_service_pb2 import RecordHeartbeatResponse
from towline.exceptions import ApplicationError
from towline.testing.clock import FakeClock

SETTING: Final[ContextVar[str]] = ContextVar("setting", default="unset")


@dataclass
class Parcel:
    weight: int
    city: str = "Ulm"


@activity.defn
async def weigh(parcel: Parcel, factor: int = 1) -> int:
    return parcel.weight * factor


@activity.defn(name="shout")
def shout_it(text: str) -> str:
    return text.upper()


async def _outcome(server: FakeServer, make_worker: MakeWorker, definition: Any, *args: object, **fields: Any) -> Any:
    """What the worker reports for one run of the activity."""
    server.add_activity(definition.name, *args, **fields)
    worker = make_worker(definition)
    running = asyncio.create_task(worker.run())
    await server.until(lambda: bool(server.reports()))
    worker.shutdown()
    await running
    [(_, request)] = server.reports()
    return request


async def _failure(server: FakeServer, make_worker: MakeWorker, definition: Any, *args: object, **fields: Any) -> Any:
    return (await _outcome(server, make_worker, definition, *args, **fields)).failure


async def test_arguments_come_as_declared_and_results_go_back(server: FakeServer, make_worker: MakeWorker) -> None:
    request = await _outcome(server, make_worker, weigh, Parcel(3), 2)
    assert values(request.result) == [6]


async def test_missing_arguments_take_their_defaults(server: FakeServer, make_worker: MakeWorker) -> None:
    assert values((await _outcome(server, make_worker, weigh, Parcel(3))).result) == [3]


async def test_sync_activities_run_in_threads(server: FakeServer, make_worker: MakeWorker) -> None:
    @activity.defn
    def where() -> list[object]:
        return [threading.current_thread() is threading.main_thread(), activity.info().activity_id]

    assert values((await _outcome(server, make_worker, where)).result) == [[False, "1"]]


async def test_names_may_differ_from_functions(server: FakeServer, make_worker: MakeWorker) -> None:
    assert values((await _outcome(server, make_worker, shout_it, "hi")).result) == ["HI"]


async def test_methods_are_activities_of_their_object(server: FakeServer, make_worker: MakeWorker) -> None:
    class Shop:
        def __init__(self, name: str) -> None:
            self.name = name

        @activity.defn
        async def greet(self, guest: str) -> str:
            return f"{self.name} greets {guest}"

    assert values((await _outcome(server, make_worker, Shop("Ada's").greet, "Bo")).result) == ["Ada's greets Bo"]


async def test_info_tells_the_attempt(server: FakeServer, make_worker: MakeWorker) -> None:
    seen: list[activity.Info] = []

    @activity.defn
    async def look() -> None:
        seen.append(activity.info())

    await _outcome(
        server,
        make_worker,
        look,
        attempt=3,
        heartbeat_details=payloads("page", 7),
        trace_context={"traceparent": "00-1-2-01"},
        heartbeat_timeout_ms=1_500,
        scheduled_time_ms=999_000,
        schedule_to_close_timeout_ms=90_000,
    )
    assert seen == [
        activity.Info(
            namespace="default",
            task_queue="q",
            workflow_id="order-7",
            run_id="run-1",
            workflow_type="Order",
            activity_id="1",
            activity_type="look",
            idempotency_key="order-7/1",
            attempt=3,
            heartbeat_details=("page", 7),
            trace_context={"traceparent": "00-1-2-01"},
            deadline=datetime(1970, 1, 1, 0, 17, 40, tzinfo=UTC),
            scheduled_time=datetime(1970, 1, 1, 0, 16, 39, tzinfo=UTC),
            started_time=datetime(1970, 1, 1, 0, 16, 40, tzinfo=UTC),
            start_to_close_timeout=timedelta(minutes=1),
            schedule_to_close_timeout=timedelta(seconds=90),
            heartbeat_timeout=timedelta(seconds=1.5),
            task_token=b"token-1",
        )
    ]


async def test_the_context_reaches_tasks_and_threads(server: FakeServer, make_worker: MakeWorker) -> None:
    @activity.defn
    async def spread() -> list[str]:
        def identify() -> str:
            return activity.info().idempotency_key

        async def identify_later() -> str:
            return identify()

        return [await asyncio.create_task(identify_later()), await asyncio.to_thread(identify)]

    assert values((await _outcome(server, make_worker, spread)).result) == [["order-7/1", "order-7/1"]]


@pytest.mark.parametrize("sync", [True, False], ids=["thread", "task"])
async def test_activities_see_the_context_of_run_and_change_only_their_own(
    sync: bool, server: FakeServer, make_worker: MakeWorker
) -> None:
    def look() -> str:
        before = SETTING.get()
        SETTING.set("changed by an activity")
        return before

    async def look_async() -> str:
        return look()

    SETTING.set("as for run")
    definition = activity.defn(name="look")(look if sync else look_async)
    server.add_activity("look")
    server.add_activity("look")
    async with make_worker(definition):
        await server.called("CompleteActivityTask", 2)
    seen = [values(request.result) for request in server.requests("CompleteActivityTask")]
    assert seen == [["as for run"], ["as for run"]]
    assert SETTING.get() == "as for run"


async def test_the_api_is_for_activities_only() -> None:
    assert not activity.in_activity()
    for call in (activity.info, activity.heartbeat, activity.cancel_cause):
        with pytest.raises(activity.NotInActivity, match=rf"{call.__name__}\(\) was called outside"):
            call()


async def test_unknown_types_fail_the_attempt_and_say_what_is_there(
    server: FakeServer, make_worker: MakeWorker
) -> None:
    server.add_activity("wrap")
    running = asyncio.create_task(make_worker(weigh, shout_it).run())
    failed = await server.called("FailActivityTask")
    assert "'wrap' is not registered" in failed.failure.message
    assert "registered: shout, weigh" in failed.failure.message
    assert failed.failure.application_failure_info.type == "ActivityNotRegistered"
    assert not failed.failure.application_failure_info.non_retryable
    assert not running.done()


async def test_failures_carry_type_stack_and_causes(server: FakeServer, make_worker: MakeWorker) -> None:
    @activity.defn
    async def pay() -> None:
        try:
            raise ConnectionError("the bank hung up")
        except ConnectionError as error:
            raise ApplicationError("no payment", 42, type="Payment", non_retryable=True) from error

    failure = await _failure(server, make_worker, pay)
    info = failure.application_failure_info
    assert (failure.message, info.type, info.non_retryable, values(info.details)) == (
        "no payment",
        "Payment",
        True,
        [42],
    )
    assert 'raise ApplicationError("no payment"' in failure.stack_trace
    assert failure.cause.message == "the bank hung up"
    assert failure.cause.application_failure_info.type == "ConnectionError"


class Weird(BaseException):
    pass


@pytest.mark.parametrize("sync", [True, False], ids=["thread", "task"])
@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt("stop"), Weird("odd"), GeneratorExit("x")])
async def test_whatever_escapes_is_contained_and_the_slot_is_free_again(
    error: BaseException, sync: bool, server: FakeServer, make_worker: MakeWorker
) -> None:
    def escape() -> None:
        raise error

    async def escape_async() -> None:
        raise error

    definition = activity.defn(name="escape")(escape if sync else escape_async)
    server.add_activity("escape")
    server.add_activity("weigh", Parcel(1))
    running = asyncio.create_task(make_worker(definition, weigh, max_concurrent_activities=1).run())
    await server.called("CompleteActivityTask")
    [failed] = server.requests("FailActivityTask")
    assert failed.failure.application_failure_info.type == type(error).__name__
    assert f"{type(error).__name__} was raised, and contained" in failed.failure.message
    assert "raise error" in failed.failure.stack_trace
    assert not running.done()


async def test_sys_exit_in_a_thread_is_contained(server: FakeServer, make_worker: MakeWorker) -> None:
    @activity.defn
    def leave() -> None:
        sys.exit(4)

    assert (await _failure(server, make_worker, leave)).application_failure_info.type == "SystemExit"


async def test_an_activity_that_cancels_itself_fails_like_any_other(
    server: FakeServer, make_worker: MakeWorker
) -> None:
    @activity.defn
    async def give_up() -> None:
        raise asyncio.CancelledError

    failure = await _failure(server, make_worker, give_up)
    assert failure.application_failure_info.type == "CancelledError"
    assert not failure.application_failure_info.non_retryable


async def test_results_that_cannot_be_written_fail_the_attempt(server: FakeServer, make_worker: MakeWorker) -> None:
    @activity.defn
    async def strange() -> object:
        return threading.Lock()

    failure = await _failure(server, make_worker, strange)
    assert failure.application_failure_info.type == "EncodeError"
    assert "result of type lock" in failure.message


async def test_arguments_that_do_not_fit_fail_the_attempt(server: FakeServer, make_worker: MakeWorker) -> None:
    failure = await _failure(server, make_worker, weigh, "no parcel")
    assert failure.application_failure_info.type == "DecodeError"
    assert "args[0]" in failure.message


async def test_the_failpoint_is_asked_before_each_activity(server: FakeServer, make_worker: MakeWorker) -> None:
    asked: list[str] = []

    def failpoint(name: str) -> None:
        asked.append(name)
        if name == "dur/activity/poison/1":
            raise RuntimeError("poisoned")

    server.add_activity("weigh", Parcel(1))
    server.add_activity("weigh", Parcel(2))
    running = asyncio.create_task(make_worker(weigh, max_concurrent_activities=1, failpoint=failpoint).run())
    assert values((await server.called("CompleteActivityTask")).result) == [2]
    [failed] = server.requests("FailActivityTask")
    assert (failed.failure.message, failed.failure.application_failure_info.type) == ("poisoned", "RuntimeError")
    assert asked == ["dur/activity/poison/1", "dur/activity/poison/2"]
    assert not running.done()


async def test_a_thread_learns_of_its_cancellation_by_its_next_heartbeat(
    server: FakeServer, make_worker: MakeWorker
) -> None:
    told, began = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    @activity.defn
    def count() -> int:
        activity.heartbeat(1)
        loop.call_soon_threadsafe(began.set)
        told.wait()
        activity.heartbeat(2)
        return 3

    server.answer("RecordHeartbeat", lambda _: RecordHeartbeatResponse(cancel_requested=True))
    server.add_activity("count", heartbeat_timeout_ms=1_000)
    worker = make_worker(count)
    running = asyncio.create_task(worker.run())
    await began.wait()
    await server.called("RecordHeartbeat")
    for _ in range(5):
        await asyncio.sleep(0)
    told.set()
    failed = await server.called("FailActivityTask")
    assert failed.failure.WhichOneof("failure_info") == "canceled_failure_info"
    assert failed.failure.cause.application_failure_info.type == "CancelRequested"
    assert not running.done()


async def test_a_thread_that_misses_its_heartbeat_is_told_and_not_reported(
    server: FakeServer, clock: FakeClock, make_worker: MakeWorker
) -> None:
    late, began = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    raised: list[BaseException] = []

    @activity.defn
    def count() -> None:
        loop.call_soon_threadsafe(began.set)
        late.wait()
        try:
            activity.heartbeat()
        except activity.HeartbeatTimeout as error:
            raised.append(error)
            raise

    server.add_activity("count", heartbeat_timeout_ms=1_000)
    worker = make_worker(count)
    running = asyncio.create_task(worker.run())
    await began.wait()
    clock.advance(1_000)
    late.set()
    worker.shutdown()
    await running
    assert len(raised) == 1
    assert server.reports() == []


async def test_what_is_no_activity_is_refused(make_worker: MakeWorker) -> None:
    with pytest.raises(TypeError, match=r"decorate it with @activity\.defn"):
        make_worker(len)
    with pytest.raises(ValueError, match="two activities are named 'weigh'"):
        make_worker(weigh, weigh)
    with pytest.raises(ValueError, match="nothing to run"):
        make_worker()

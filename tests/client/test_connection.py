"""Connections: on a thread of their own, or on the caller's loop."""

import asyncio
import socket
import threading
from collections.abc import Callable

import pytest

from tests.wire.fake_services import FakeServices, WaitingPoll
from towline.api.task_service_pb2 import PollRequest
from towline.api.workflow_service_pb2 import StartWorkflowRequest
from towline.client.connection import Connection, Wire
from towline.client.handover import Handover
from towline.client.io_thread import SHARED, IoThread
from towline.client.retrying import RetryingCaller
from towline.client.transport.api import ConnectionClosed, RpcError
from towline.client.transport.local import LocalTransport
from towline.rpc import METHODS
from towline.status import Status
from towline.testing.clock import FakeClock

START = METHODS["StartWorkflow"]


@pytest.fixture
def thread() -> IoThread:
    return IoThread("test-io")


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def on_thread(thread: IoThread, services: FakeServices) -> Connection:
    """A connection whose services live on the thread's loop."""
    return Connection(LocalTransport(services), thread.acquire(), thread=thread)


async def test_calls_from_another_loop_run_on_the_thread(thread: IoThread) -> None:
    threads: set[str] = set()

    async def start(_request: object, _caller: object) -> bytes:
        threads.add(threading.current_thread().name)
        return b""

    connection = on_thread(thread, FakeServices({"StartWorkflow": start}))
    await asyncio.gather(*(connection.call(START, StartWorkflowRequest()) for _ in range(100)))
    await connection.close()
    assert threads == {"test-io"}


async def test_errors_come_back_to_the_callers_loop(thread: IoThread) -> None:
    async def fail(_request: object, _caller: object) -> bytes:
        raise ValueError("no")

    connection = on_thread(thread, FakeServices({"StartWorkflow": fail}))
    with pytest.raises(RpcError, match="ValueError: no"):
        await connection.call(START, StartWorkflowRequest())
    await connection.close()


async def test_cancelling_a_call_cancels_it_on_the_thread(thread: IoThread) -> None:
    entered, cancelled = threading.Event(), threading.Event()

    async def wait(_request: object, _caller: object) -> bytes:
        entered.set()
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return b""

    connection = on_thread(thread, FakeServices({"StartWorkflow": wait}))
    calling = asyncio.create_task(connection.call(START, StartWorkflowRequest()))
    await asyncio.to_thread(entered.wait)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    await asyncio.to_thread(cancelled.wait)
    await connection.close()


async def test_what_is_handed_over_in_one_turn_wakes_the_loop_once(
    thread: IoThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = thread.acquire()
    wakes: list[object] = []
    wake = loop.call_soon_threadsafe
    blocked = threading.Event()
    wake(blocked.wait)

    def counted(callback: Callable[[], object]) -> None:
        wakes.append(callback)
        wake(callback)

    monkeypatch.setattr(loop, "call_soon_threadsafe", counted)

    async def work(number: int) -> int:
        return number

    handover = Handover(loop)
    running = asyncio.gather(*(handover.run(work(number)) for number in range(50)))
    await asyncio.sleep(0)
    blocked.set()
    assert await running == list(range(50))
    assert len(wakes) == 1
    thread.release()


async def test_the_thread_ends_with_its_last_holder_and_can_begin_again(thread: IoThread) -> None:
    first = thread.acquire()
    assert thread.acquire() is first
    thread.release()
    assert first.is_running()
    thread.release()
    second = thread.acquire()
    assert second is not first
    thread.release()


async def test_a_connection_that_is_closed_twice_lets_go_once(thread: IoThread) -> None:
    loop = thread.acquire()
    connection = on_thread(thread, FakeServices())
    await connection.close()
    await connection.close()
    assert loop.is_running()
    thread.release()


async def test_calls_that_run_when_the_connection_is_closed_say_so_on_every_loop(thread: IoThread) -> None:
    entered = threading.Semaphore(0)

    async def wait(_request: object, _caller: object) -> bytes:
        entered.release()
        return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]

    connection = on_thread(thread, FakeServices({"StartWorkflow": wait}))
    elsewhere = asyncio.create_task(asyncio.to_thread(asyncio.run, connection.call(START, StartWorkflowRequest())))
    here = asyncio.create_task(connection.call(START, StartWorkflowRequest()))
    await asyncio.to_thread(lambda: [entered.acquire() for _ in range(2)])
    await connection.close()
    outcomes = await asyncio.gather(here, elsewhere, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [ConnectionClosed, ConnectionClosed]
    assert thread.holders == 0


async def test_whoever_holds_a_closed_connection_keeps_its_loop_going(thread: IoThread) -> None:
    connection = on_thread(thread, FakeServices())
    connection.hold()
    await connection.close()
    assert connection.loop.is_running()
    with pytest.raises(ConnectionClosed):
        await connection.call(START, StartWorkflowRequest())
    with pytest.raises(ConnectionClosed):
        connection.hold()
    connection.let_go()
    assert thread.holders == 0


async def test_a_closed_connection_does_not_run_on_the_thread_of_the_next_one(thread: IoThread) -> None:
    closed = on_thread(thread, FakeServices())
    await closed.close()
    opened = on_thread(thread, FakeServices())
    with pytest.raises(ConnectionClosed):
        await closed.run(asyncio.sleep(0))
    await opened.close()
    assert thread.holders == 0


async def test_a_call_on_a_closed_connection_is_not_made_again() -> None:
    clock = FakeClock()
    connection = Connection.local(FakeServices(), clock=clock)
    await connection.close()
    with pytest.raises(ConnectionClosed, match="the connection was closed: open a new one"):
        await RetryingCaller(connection).call(START, StartWorkflowRequest())
    assert clock.timers() == []


async def test_a_call_after_its_loop_is_gone_says_so(thread: IoThread) -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    connection = Connection(LocalTransport(FakeServices()), loop)
    with pytest.raises(RuntimeError, match="open a new connection"):
        await connection.call(START, StartWorkflowRequest())


@pytest.mark.parametrize("wire", list(Wire))
async def test_nobody_at_the_address_is_unavailable_and_says_what_to_do(wire: Wire) -> None:
    target = f"127.0.0.1:{closed_port()}"
    with pytest.raises(RpcError, match=f"no server answered at {target} within 20 ms.*towline server") as failed:
        await Connection.on_this_loop(target, wire=wire, connect_timeout_ms=20)
    assert failed.value.status is Status.UNAVAILABLE


async def test_a_failed_connect_lets_go_of_the_shared_thread() -> None:
    before = SHARED.holders
    with pytest.raises(RpcError):
        await Connection.connect(f"127.0.0.1:{closed_port()}", connect_timeout_ms=20)
    assert SHARED.holders == before


async def test_without_a_time_out_the_first_call_finds_that_nobody_is_there() -> None:
    target = f"127.0.0.1:{closed_port()}"
    connection = await Connection.on_this_loop(target, connect_timeout_ms=0)
    with pytest.raises(RpcError, match=target) as failed:
        await connection.call(METHODS["PollActivityTask"], PollRequest())
    assert failed.value.status is Status.UNAVAILABLE
    await connection.close()


async def test_a_local_caller_that_vanishes_after_the_answer_is_gone() -> None:
    services = FakeServices()
    poll = services.handlers["PollActivityTask"] = WaitingPoll()
    connection = Connection.local(services)
    polling = asyncio.create_task(connection.call(METHODS["PollActivityTask"], PollRequest()))
    await poll.entered.wait()
    poll.answer.set_result(METHODS["PollActivityTask"].response_type())
    await asyncio.sleep(0)  # the services have returned, the caller has not been woken
    polling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await polling
    assert (poll.gone.is_set(), poll.cancelled.is_set()) == (True, False)

"""Workers and a real server, over real gRPC."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message

from tests.worker.fake_server import payloads, values
from tests.worker.real_server import RealServer
from towline import activity, workflow
from towline.api.command_pb2 import (
    Command,
    CompleteWorkflowExecutionCommandAttributes,
    ScheduleActivityTaskCommandAttributes,
)
from towline.api.history_pb2 import HistoryEvent
from towline.api.task_service_pb2 import PollWorkflowTaskResponse
from towline.client import Client, RpcError
from towline.rpc import Method
from towline.testing.clock import FakeClock
from towline.worker import Worker

Reply = list[Command]


def complete(*results: object) -> Command:
    return Command(complete_workflow=CompleteWorkflowExecutionCommandAttributes(result=payloads(*results)))


def schedule(activity_id: str, activity_type: str, *args: object, **attributes: int) -> Command:
    return Command(
        schedule_activity=ScheduleActivityTaskCommandAttributes(
            activity_id=activity_id,
            activity_type=activity_type,
            input=payloads(*args),
            **{"start_to_close_timeout_ms": 600_000, **attributes},  # type: ignore[arg-type]
        )
    )


class Handler:
    """A `WorkflowHandler` out of one function of the history."""

    def __init__(self, decide: Callable[[Sequence[HistoryEvent]], Reply]) -> None:
        self.histories: list[list[HistoryEvent]] = []
        self._decide = decide

    def handle_workflow_task(self, task: PollWorkflowTaskResponse, history: Sequence[HistoryEvent]) -> Reply:
        self.histories.append(list(history))
        return self._decide(history)


def fan_out(count: int, **attributes: int) -> Handler:
    """A workflow of `count` activities "job" at once, done when all of them are."""

    def decide(history: Sequence[HistoryEvent]) -> Reply:
        if not any(event.HasField("activity_task_scheduled") for event in history):
            return [schedule(str(n), "job", **attributes) for n in range(1, count + 1)]
        results = [event for event in history if event.HasField("activity_task_completed")]
        return [complete(len(results))] if len(results) == count else []

    return Handler(decide)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(start_ms=1_000_000)


@pytest.fixture
async def server(tmp_path: Path, clock: FakeClock) -> AsyncIterator[RealServer]:
    async with RealServer(tmp_path / "towline.db", clock=clock) as served:
        yield served


@pytest.fixture
async def client(server: RealServer) -> AsyncIterator[Client]:
    async with await server.connect() as connected:
        yield connected


class Counter:
    """A number, and waiting for what it becomes."""

    def __init__(self) -> None:
        self.value = 0
        self.most = 0
        self._changed = asyncio.Condition()

    async def add(self, amount: int) -> None:
        async with self._changed:
            self.value += amount
            self.most = max(self.most, self.value)
            self._changed.notify_all()

    async def wait_for(self, value: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self.value == value)


async def test_worker_runs_workflow_end_to_end(client: Client) -> None:
    infos: list[activity.Info] = []

    @activity.defn
    async def upper(text: str) -> str:
        infos.append(activity.info())
        return text.upper()

    @activity.defn
    def exclaim(text: str) -> str:
        infos.append(activity.info())
        return text + "!"

    def decide(history: Sequence[HistoryEvent]) -> Reply:
        done = [event.activity_task_completed for event in history if event.HasField("activity_task_completed")]
        if not done:
            text = values(history[0].workflow_execution_started.input)[0]
            return [schedule("1", "upper", text), schedule("2", "exclaim", text)]
        return [complete([values(event.result)[0] for event in done])] if len(done) == 2 else []

    worker = Worker(
        client,
        task_queue="q",
        activities=[upper, exclaim],
        workflow_handler=Handler(decide),
        identity="the worker",
        max_concurrent_activities=1,
    )
    async with worker:
        handle = await client.start_workflow("Echo", "hi", id="demo-1", task_queue="q")
        assert await handle.result() == ["HI", "hi!"]
    assert [(info.idempotency_key, info.activity_type, info.attempt) for info in infos] == [
        ("demo-1/1", "upper", 1),
        ("demo-1/2", "exclaim", 1),
    ]
    assert {(info.workflow_id, info.run_id, info.workflow_type, info.namespace) for info in infos} == {
        ("demo-1", "run-1", "Echo", "default")
    }
    history = (await handle.fetch_history()).events
    identities = {
        event.WhichOneof("attributes"): getattr(event, str(event.WhichOneof("attributes"))).identity
        for event in history
        if event.HasField("activity_task_started") or event.HasField("workflow_task_started")
    }
    assert identities == {"activity_task_started": "the worker", "workflow_task_started": "the worker"}


async def test_worker_fetches_every_history_page(client: Client) -> None:
    text = "x" * 700_000

    @activity.defn
    async def job() -> str:
        return text

    handler = fan_out(5)
    async with Worker(client, task_queue="q", activities=[job], workflow_handler=handler):
        handle = await client.start_workflow("Big", id="big-1", task_queue="q")
        assert await handle.result() == 5
    last = handler.histories[-1]
    assert [event.event_id for event in last] == list(range(1, len(last) + 1))
    assert sum(event.ByteSize() for event in last) > 3 * 1024 * 1024
    assert last[-1].HasField("workflow_task_started")


async def test_worker_bounded_concurrency(client: Client) -> None:
    running, go = Counter(), asyncio.Semaphore(0)

    @activity.defn
    async def job() -> None:
        await running.add(1)
        await go.acquire()
        await running.add(-1)

    worker = Worker(client, task_queue="q", activities=[job], workflow_handler=fan_out(6), max_concurrent_activities=2)
    async with worker:
        handle = await client.start_workflow("Six", id="six-1", task_queue="q")
        await running.wait_for(2)
        # Leased is what the server takes for started; four wait.
        pending = (await handle.describe()).pending_activities
        assert sorted(one.started for one in pending) == [False] * 4 + [True] * 2
        for _ in range(6):
            go.release()
        assert await handle.result() == 6
    assert running.most == 2


async def test_worker_drains_on_cancel(client: Client) -> None:
    began, go, cancelled = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @activity.defn
    async def job() -> str:
        began.set()
        try:
            await go.wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return "finished"

    running = asyncio.create_task(Worker(client, task_queue="q", activities=[job], workflow_handler=fan_out(1)).run())
    handle = await client.start_workflow("One", id="one-1", task_queue="q")
    await began.wait()
    running.cancel()
    # Its task may be on its way to the worker that stops; then it is handed back, and waits for no deadline.
    other = await client.start_workflow("One", id="one-2", task_queue="q")
    assert not running.done()
    go.set()
    await asyncio.wait([running])
    assert running.cancelled()
    assert not cancelled.is_set()
    events = (await handle.fetch_history()).events
    assert [values(e.activity_task_completed.result) for e in events if e.HasField("activity_task_completed")] == [
        ["finished"]
    ]
    async with Worker(client, task_queue="q", activities=[job], workflow_handler=fan_out(1)):
        assert await other.result() == 1


async def test_missed_heartbeat_cancels_activity(client: Client, clock: FakeClock) -> None:
    attempts: asyncio.Queue[int] = asyncio.Queue()
    causes: asyncio.Queue[activity.ActivityCancelled | None] = asyncio.Queue()

    @activity.defn
    async def job() -> str:
        attempt = activity.info().attempt
        attempts.put_nowait(attempt)
        if attempt == 1:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                causes.put_nowait(activity.cancel_cause())
        return f"from attempt {attempt}"

    worker = Worker(client, task_queue="q", activities=[job], workflow_handler=fan_out(1, heartbeat_timeout_ms=1_000))
    async with worker:
        handle = await client.start_workflow("One", id="one-1", task_queue="q")
        assert await attempts.get() == 1
        clock.advance(999)
        await asyncio.sleep(0)
        assert causes.empty()
        clock.advance(1)
        assert isinstance(await causes.get(), activity.HeartbeatTimeout)
        # The server keeps the same time: the attempt failed, and the next one comes after the retry's delay.
        await clock.wait_for_timer(1_000)
        clock.advance(1_000)
        assert await attempts.get() == 2
        assert await handle.result() == 1
    events = (await handle.fetch_history()).events
    assert [values(e.activity_task_completed.result) for e in events if e.HasField("activity_task_completed")] == [
        ["from attempt 2"]
    ]
    assert [e.activity_task_started.attempt for e in events if e.HasField("activity_task_started")] == [2]


async def test_worker_reconnects_after_server_restart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began, go = asyncio.Event(), asyncio.Event()

    @activity.defn
    async def job() -> str:
        began.set()
        await go.wait()
        return "finished"

    failed = {name: asyncio.Event() for name in ("PollActivityTask", "PollWorkflowTask", "CompleteActivityTask")}

    server = RealServer(tmp_path / "towline.db")
    async with server, await server.connect() as client:
        send = client.connection.transport.call

        async def call(method: Method, request: Message, *, timeout_ms: int | None = None) -> Any:
            try:
                return await send(method, request, timeout_ms=timeout_ms)
            except RpcError:
                if method.name in failed:
                    failed[method.name].set()
                raise

        monkeypatch.setattr(client.connection.transport, "call", call)
        worker = Worker(
            client,
            task_queue="q",
            activities=[job],
            workflow_handler=fan_out(1),
            reconnect_initial=timedelta(milliseconds=5),
            reconnect_max=timedelta(milliseconds=50),
        )
        async with worker:
            handle = await client.start_workflow("One", id="one-1", task_queue="q")
            await began.wait()
            await server.stop()
            go.set()  # its report finds no server, and has to wait for the next one
            await asyncio.gather(*(event.wait() for event in failed.values()))
            await server.start()
            assert await handle.result() == 1
            later = await client.start_workflow("One", id="one-2", task_queue="q")
            assert await later.result() == 1
        events = (await handle.fetch_history()).events
        assert [e.activity_task_started.attempt for e in events if e.HasField("activity_task_started")] == [1]


@activity.defn(start_to_close_timeout=timedelta(seconds=10))
async def loud(text: str) -> str:
    return text.upper()


@activity.defn(start_to_close_timeout=timedelta(seconds=10))
def blocking(text: str) -> str:
    return f"{text} {threading.current_thread() is threading.main_thread()}"


@workflow.defn
async def echo(text: str) -> str:
    heard = await loud(text)
    return await workflow.execute_activity(blocking, heard)


async def test_code_as_users_write_it_runs_with_its_io_in_another_thread(tmp_path: Path) -> None:
    async with (
        RealServer(tmp_path / "towline.db") as server,
        await Client.connect(server.address) as client,
        Worker(client, task_queue="q", workflows=[echo], activities=[loud, blocking]),
    ):
        results = await asyncio.gather(
            *(client.execute_workflow(echo, f"hi {n}", id=f"echo-{n}", task_queue="q") for n in range(20))
        )
    assert results == [f"HI {n} False" for n in range(20)]

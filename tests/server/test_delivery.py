"""Tasks meet pollers: every task runs or is handed back, none is lost, none waits for its deadline."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.server.protocol import QUEUE, Protocol, complete, names, schedule, settled
from towline.api.task_service_pb2 import PollActivityTaskResponse
from towline.core.task import TaskRow, workflow_queue, workflow_task_id
from towline.server.lease import Lease
from towline.server.settings import Settings
from towline.store.api import Batch, Store, TaskHint
from towline.testing.clock import FakeClock


async def test_stale_queue_task_skipped(protocol: Protocol) -> None:
    run_id = await protocol.start()
    await protocol.complete_workflow(await protocol.poll_workflow(), schedule("1"))
    before = await protocol.history()
    # A crash's leftover: the task of a workflow task that was completed is on the queue again.
    leftover = _leftover(protocol, run_id, 2)
    await protocol.server.store.commit([leftover])
    protocol.server.engine.runs.drop(run_id)
    protocol.server.matching.look("default", workflow_queue(QUEUE))

    poll = asyncio.create_task(protocol.poll_workflow())
    activity = await protocol.poll_activity()
    await protocol.complete_activity(activity)
    task = await poll
    assert task.history.events[-1].workflow_task_started.scheduled_event_id == 8
    assert names(await protocol.history())[len(before) :] == [
        "activity_task_started",
        "activity_task_completed",
        "workflow_task_scheduled",
        "workflow_task_started",
    ]
    stored = await protocol.server.store.load_run(run_id)
    assert stored is not None
    assert [row.task_id for row in stored.tasks] == [workflow_task_id(run_id, 8)], "the leftover was acknowledged"


async def test_stale_queue_task_of_a_closed_run_skipped(protocol: Protocol, clock: FakeClock) -> None:
    run_id = await protocol.start()
    await protocol.complete_workflow(await protocol.poll_workflow(), complete())
    await protocol.server.store.commit([_leftover(protocol, run_id, 2)])
    protocol.server.engine.runs.drop(run_id)
    protocol.server.matching.look("default", workflow_queue(QUEUE))
    poll = asyncio.create_task(protocol.poll_workflow())
    await clock.wait_for_timer(30_000)
    await protocol.start("demo-2")
    assert (await poll).execution.workflow_id == "demo-2"
    stored = await protocol.server.store.load_run(run_id)
    assert stored is not None
    assert stored.tasks == []


async def test_empty_poll_after_the_long_poll_time(protocol: Protocol, clock: FakeClock) -> None:
    poll = asyncio.create_task(protocol.poll_workflow())
    await clock.wait_for_timer(30_000)
    clock.advance(29_999)
    assert not await settled(poll)
    clock.advance(1)
    assert (await poll).task_token == b""


async def test_task_goes_to_the_poll_that_waits(protocol: Protocol, clock: FakeClock) -> None:
    poll = asyncio.create_task(protocol.poll_workflow())
    await clock.wait_for_timer(30_000)
    await protocol.start()
    task = await poll
    assert [event.event_id for event in task.history.events] == [1, 2, 3]
    stored = await protocol.server.store.load_run("run-1")
    assert stored is not None
    assert len(stored.blobs) == 1, "born leased: one commit for the start and the delivery"


async def test_cancelled_poll_gives_its_lease_back(
    store: Store, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """100 activities queued, polls cancelled while their leases are being committed: each is handed back at once."""
    async with Protocol(store, clock) as protocol:
        await protocol.start()
        await protocol.complete_workflow(await protocol.poll_workflow(), *(schedule(str(n)) for n in range(1, 101)))
        asked, gone = asyncio.Semaphore(0), asyncio.Semaphore(0)
        commit, go_on = store.commit, asyncio.Event()
        deliver = protocol.server.engine.deliver

        async def noted_deliver(run_id: str, task_id: str, *, identity: str) -> Lease | None:
            asked.release()
            try:
                return await deliver(run_id, task_id, identity=identity)
            except asyncio.CancelledError:
                gone.release()
                raise

        async def held_commit(batches: Sequence[Batch]) -> list[bool]:
            await go_on.wait()
            return await commit(batches)

        monkeypatch.setattr(protocol.server.engine, "deliver", noted_deliver)
        monkeypatch.setattr(store, "commit", held_commit)
        polls = [asyncio.create_task(protocol.poll_activity()) for _ in range(100)]
        await times(100, asked)
        for poll in polls[::2]:
            poll.cancel()
        await times(50, gone)
        go_on.set()
        outcomes = await asyncio.gather(*polls, return_exceptions=True)
        taken = [task for task in outcomes if isinstance(task, PollActivityTaskResponse)]
        assert len(taken) == 50
        for task in taken:
            await protocol.complete_activity(task)
        while len(taken) < 100:
            # The clock stands still: a task that waited for its deadline would never come.
            task = await protocol.poll_activity()
            assert task.attempt == 1
            await protocol.complete_activity(task)
            taken.append(task)
        assert sorted(int(task.activity_id) for task in taken) == list(range(1, 101))
        assert len({task.task_token for task in taken}) == 100


async def times(count: int, happened: asyncio.Semaphore) -> None:
    """Come back when it has happened so often."""
    for _ in range(count):
        await happened.acquire()


async def test_released_task_comes_again_at_once_as_the_same_attempt(protocol: Protocol) -> None:
    task = await protocol.scheduled_activity()
    await protocol.release(task)
    again = await protocol.poll_activity()
    assert (again.activity_id, again.attempt) == (task.activity_id, 1)
    assert again.lease_token > task.lease_token


async def test_shutdown_worker_ends_its_polls_only(protocol: Protocol, clock: FakeClock) -> None:
    mine = asyncio.create_task(protocol.poll_workflow(key="mine"))
    other = asyncio.create_task(protocol.poll_workflow(key="other"))
    await clock.wait_for_timer(30_000, count=2)
    await protocol.shutdown_worker("mine")
    assert (await mine).task_token == b""
    assert (await protocol.poll_workflow(key="mine")).task_token == b""
    await protocol.start()
    assert (await other).task_token


@pytest.mark.parametrize("stop", ["worker", "server"])
async def test_stop_between_look_and_wait_ends_the_poll(
    store: Store, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, stop: str
) -> None:
    """A worker or the server stops while a poll reads the queue from the store: it must not begin to wait."""
    async with Protocol(store, clock) as protocol:
        reading, go_on = hold_reads(store, monkeypatch)
        poll = asyncio.create_task(protocol.poll_workflow(key="mine"))
        await reading.wait()
        if stop == "worker":
            await protocol.shutdown_worker("mine")
        else:
            protocol.server.send_home()
        go_on.set()
        assert (await poll).task_token == b""


async def test_next_workflow_task_rides_on_the_completion(protocol: Protocol) -> None:
    await protocol.start()
    task = await protocol.poll_workflow()
    await protocol.signal()
    response = await protocol.complete_workflow(task, next_task=True)
    assert response.workflow_task.previous_started_event_id == 3
    assert names(response.workflow_task.history.events)[-1] == "workflow_task_started"
    response = await protocol.complete_workflow(response.workflow_task, complete(), next_task=True)
    assert not response.HasField("workflow_task")


async def test_trigger_between_look_and_wait_wakes_the_poll(
    store: Store, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A start that commits while a poll reads the empty queue from the store must not be slept over."""
    async with Protocol(store, clock) as protocol:
        reading, go_on = hold_reads(store, monkeypatch)
        poll = asyncio.create_task(protocol.poll_workflow())
        await reading.wait()
        await protocol.start()
        go_on.set()
        assert (await poll).execution.workflow_id == "demo-1"


async def test_close_between_look_and_wait_wakes_the_reader(
    store: Store, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run closes after a waiting GetHistory has looked, and before it waits: it must be told all the same."""
    async with Protocol(store, clock) as protocol:
        run_id = await protocol.start()
        task = await protocol.poll_workflow()
        looked, go_on = asyncio.Event(), asyncio.Event()
        find = store.find_run

        async def slow_find(namespace: str, workflow_id: str, run_id: str = "") -> object:
            row = await find(namespace, workflow_id, run_id)
            looked.set()
            await go_on.wait()
            return row

        monkeypatch.setattr(store, "find_run", slow_find)
        reader = asyncio.create_task(protocol.history_page(wait_new_event=True, close_event_only=True))
        await looked.wait()
        await protocol.complete_workflow(task, complete())
        protocol.server.engine.runs.drop(run_id)
        go_on.set()
        page = await reader
        assert names(page.history.events) == ["workflow_execution_completed"]


async def test_long_history_poll_comes_back_empty_when_its_time_is_over(protocol: Protocol, clock: FakeClock) -> None:
    await protocol.start()
    reader = asyncio.create_task(protocol.history_page(wait_new_event=True, close_event_only=True))
    await clock.wait_for_timer(30_000)
    clock.advance(30_000)
    page = await reader
    assert not page.history.events
    assert page.next_page_token, "the run is open: ask again"


async def test_new_events_reach_the_reader_that_waits(protocol: Protocol, clock: FakeClock) -> None:
    await protocol.start()
    page = await protocol.history_page(wait_new_event=True)
    assert len(page.history.events) == 2
    reader = asyncio.create_task(protocol.history_page(wait_new_event=True, next_page_token=page.next_page_token))
    await clock.wait_for_timer(30_000)
    await protocol.signal()
    assert names((await reader).history.events) == ["workflow_execution_signaled"]


async def test_backlog_beyond_memory_is_delivered_in_order(store: Store, clock: FakeClock) -> None:
    settings = Settings(ready_tasks_per_queue=10)
    async with Protocol(store, clock, settings=settings) as protocol:
        await protocol.start()
        await protocol.complete_workflow(await protocol.poll_workflow(), *(schedule(str(n)) for n in range(1, 36)))
        tasks = [await protocol.poll_activity() for _ in range(35)]
        assert sorted(int(task.activity_id) for task in tasks) == list(range(1, 36))
        with protocol.server.matching.polled("default", "act:default") as queue:
            assert queue.ready == []


def hold_reads(store: Store, monkeypatch: pytest.MonkeyPatch) -> tuple[asyncio.Event, asyncio.Event]:
    """From now on, whoever has read a queue from the store sets the first event, and goes on after the second."""
    reading, go_on = asyncio.Event(), asyncio.Event()
    read = store.ready_tasks

    async def slow_read(namespace: str, queue: str, now_ms: int, limit: int) -> list[TaskHint]:
        found = await read(namespace, queue, now_ms, limit)
        reading.set()
        await go_on.wait()
        return found

    monkeypatch.setattr(store, "ready_tasks", slow_read)
    return reading, go_on


def _leftover(protocol: Protocol, run_id: str, scheduled_event_id: int) -> Batch:
    """A batch that puts the task of that workflow task on its queue again."""
    live = protocol.server.engine.runs.peek(run_id)
    assert live is not None
    assert live.row is not None
    row = TaskRow(
        namespace="default",
        queue=workflow_queue(QUEUE),
        task_id=workflow_task_id(run_id, scheduled_event_id),
        run_id=run_id,
        workflow_id=live.row.workflow_id,
        scheduled_event_id=scheduled_event_id,
        attempt=1,
        visible_at_ms=0,
    )
    return Batch(run=replace(live.row, revision=live.row.revision + 1), tasks_put=[row])

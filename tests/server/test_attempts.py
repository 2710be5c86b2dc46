"""A workflow task that fails, or whose worker dies, is tried again; its history stays short."""

import asyncio

from tests.server.protocol import Protocol, complete, names, refused, schedule, settled
from towline.api.task_service_pb2 import PollWorkflowTaskResponse
from towline.status import Status
from towline.testing.clock import FakeClock

DUTY_PAUSE_MS = 15_000  # a duty looks at its agenda at least this often


async def poll_after(protocol: Protocol, clock: FakeClock, delay_ms: int) -> PollWorkflowTaskResponse:
    """The workflow task that comes once the back-off is over, and not before."""
    poll = asyncio.create_task(protocol.poll_workflow())
    while delay_ms:
        step_ms = min(delay_ms, DUTY_PAUSE_MS)
        await clock.wait_for_timer(step_ms)
        assert not await settled(poll)
        clock.advance(step_ms)
        delay_ms -= step_ms
    return await poll


async def test_failed_workflow_task_leaves_the_run_open_and_the_history_short(
    protocol: Protocol, clock: FakeClock
) -> None:
    await protocol.start()
    await protocol.fail_workflow(await protocol.poll_workflow(), "bug one")
    history = await protocol.history()
    assert names(history)[2:] == ["workflow_task_started", "workflow_task_failed", "workflow_task_scheduled"]
    failed = history[3].workflow_task_failed
    assert (failed.scheduled_event_id, failed.started_event_id, failed.failure.message) == (2, 3, "bug one")
    assert failed.failure.stack_trace == "the stack"

    for attempt, delay_ms in enumerate([1_000, 2_000, 4_000, 8_000], start=2):
        task = await poll_after(protocol, clock, delay_ms)
        assert task.attempt == attempt
        assert names(task.history.events)[-1] == "workflow_task_started"
        assert task.history.events[-1].event_id == task.started_event_id
        await protocol.fail_workflow(task, f"bug {attempt}")
    assert len(await protocol.history()) <= 6, "failures after the first are counted, not written"
    pending = (await protocol.describe()).pending_workflow_task
    assert (pending.attempt, pending.last_failure.message) == (6, "bug 5")

    task = await poll_after(protocol, clock, 16_000)
    await protocol.complete_workflow(task, complete())
    history = await protocol.history()
    assert names(history)[-3:] == [
        "workflow_task_started",
        "workflow_task_completed",
        "workflow_execution_completed",
    ]
    assert history[-2].workflow_task_completed.started_event_id == history[-3].event_id == task.started_event_id


async def test_news_during_an_unwritten_attempt_comes_after_its_start(protocol: Protocol, clock: FakeClock) -> None:
    await protocol.start()
    await protocol.fail_workflow(await protocol.poll_workflow())
    await protocol.fail_workflow(await poll_after(protocol, clock, 1_000))
    third = await poll_after(protocol, clock, 2_000)
    assert third.attempt == 3
    before = await protocol.history()
    assert third.started_event_id == len(before) + 1, "not written yet"

    await protocol.signal()
    history = await protocol.history()
    assert names(history)[len(before) :] == ["workflow_task_started", "workflow_execution_signaled"]
    assert history[len(before)] == third.history.events[-1], "what the worker was shown is what is written"

    await protocol.complete_workflow(third, schedule("1"))
    assert names(await protocol.history())[len(history) :] == [
        "workflow_task_completed",
        "activity_task_scheduled",
        "workflow_task_scheduled",
    ]


async def test_dead_workers_leave_two_started_events_at_most(protocol: Protocol, clock: FakeClock) -> None:
    await protocol.start()
    for attempt in range(1, 6):
        task = await protocol.poll_workflow()
        assert task.attempt == attempt
        clock.advance(10_000)
    assert names(await protocol.history())[2:] == ["workflow_task_started", "workflow_task_started"]


async def test_close_with_unseen_news_is_an_unhandled_command(protocol: Protocol) -> None:
    await protocol.start()
    task = await protocol.poll_workflow()
    await protocol.signal()
    await protocol.complete_workflow(task, complete())
    history = await protocol.history()
    assert names(history)[3:] == [
        "workflow_execution_signaled",
        "workflow_task_failed",
        "workflow_task_scheduled",
    ]
    following = await protocol.poll_workflow()
    await protocol.complete_workflow(following, complete())
    assert names(await protocol.history())[-1] == "workflow_execution_completed"


async def test_terminated_run_refuses_its_worker(protocol: Protocol) -> None:
    await protocol.start()
    task = await protocol.poll_workflow()
    await protocol.terminate()
    history = await protocol.history()
    assert names(history)[-1] == "workflow_execution_terminated"
    await refused(protocol.complete_workflow(task, complete()), Status.FAILED_PRECONDITION)
    await refused(protocol.signal(), Status.NOT_FOUND)
    assert await protocol.history() == history

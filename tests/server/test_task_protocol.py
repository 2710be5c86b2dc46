"""The task protocol, call by call, as the design's worked example and its rules have it."""

import asyncio

import pytest

from tests.server.conftest import START_MS
from tests.server.protocol import Protocol, complete, failure, names, payloads, refused, schedule
from towline import limits
from towline.api.common_pb2 import WORKFLOW_EXECUTION_STATUS_COMPLETED, Payloads
from towline.status import Status
from towline.testing.clock import FakeClock


async def test_task_protocol_hand_example(protocol: Protocol) -> None:
    assert await protocol.start() == "run-1"
    assert names(await protocol.history()) == ["workflow_execution_started", "workflow_task_scheduled"]

    first = await protocol.poll_workflow()
    assert (first.lease_token, first.attempt, first.previous_started_event_id, first.started_event_id) == (1, 1, 0, 3)
    assert first.deadline_ms == START_MS + 10_000
    assert (first.execution.workflow_id, first.execution.run_id, first.workflow_type) == ("demo-1", "run-1", "Echo")
    assert [event.event_id for event in first.history.events] == [1, 2, 3]
    assert not first.next_page_token
    assert not first.continue_as_new_suggested
    history = await protocol.history()
    assert history == list(first.history.events)
    assert history[2].workflow_task_started.scheduled_event_id == 2
    assert history[2].workflow_task_started.identity == "worker-1"

    await protocol.complete_workflow(first, schedule("1"))
    history = await protocol.history()
    assert names(history)[3:] == ["workflow_task_completed", "activity_task_scheduled"]
    completed = history[3].workflow_task_completed
    assert (completed.scheduled_event_id, completed.started_event_id, completed.identity) == (2, 3, "worker-1")
    scheduled = history[4].activity_task_scheduled
    assert (scheduled.activity_id, scheduled.activity_type, scheduled.workflow_task_completed_event_id) == (
        "1",
        "Upper",
        4,
    )
    assert (scheduled.input, scheduled.task_queue) == (payloads(), "default")

    activity = await protocol.poll_activity()
    assert await protocol.history() == history, "polling an activity appends nothing"
    assert (activity.attempt, activity.lease_token, activity.idempotency_key) == (1, 2, "demo-1/1")
    assert activity.deadline_ms == START_MS + 10_000
    assert (activity.activity_id, activity.activity_type, activity.input) == ("1", "Upper", payloads())

    await protocol.complete_activity(activity)
    history = await protocol.history()
    assert names(history)[5:] == ["activity_task_started", "activity_task_completed", "workflow_task_scheduled"]
    started = history[5].activity_task_started
    assert (started.scheduled_event_id, started.attempt, started.lease_token, started.identity) == (5, 1, 2, "worker-1")
    result = history[6].activity_task_completed
    assert (result.scheduled_event_id, result.started_event_id, result.result) == (5, 6, payloads(b'"HI"'))
    assert result.identity == "worker-1"

    second = await protocol.poll_workflow()
    assert (second.lease_token, second.previous_started_event_id, second.started_event_id) == (3, 3, 9)
    assert [event.event_id for event in second.history.events] == list(range(1, 10))
    assert second.history.events[8].workflow_task_started.scheduled_event_id == 8

    await protocol.complete_workflow(second, complete(payloads(b'"HI"')))
    history = await protocol.history()
    assert [event.event_id for event in history] == list(range(1, 12))
    assert names(history)[9:] == ["workflow_task_completed", "workflow_execution_completed"]
    completed = history[9].workflow_task_completed
    assert (completed.scheduled_event_id, completed.started_event_id) == (8, 9)
    closed = history[10].workflow_execution_completed
    assert (closed.result, closed.workflow_task_completed_event_id) == (payloads(b'"HI"'), 10)
    assert (await protocol.describe()).info.status == WORKFLOW_EXECUTION_STATUS_COMPLETED


async def test_complete_workflow_task_fenced(protocol: Protocol, clock: FakeClock) -> None:
    await protocol.start()
    late = await protocol.poll_workflow()
    clock.advance(10_000)
    live = await protocol.poll_workflow()
    assert (live.attempt, live.started_event_id) == (2, 4)
    assert live.lease_token > late.lease_token
    history = await protocol.history()
    assert names(history)[2:] == ["workflow_task_started", "workflow_task_started"]
    assert [event.workflow_task_started.scheduled_event_id for event in history[2:]] == [2, 2]

    await refused(protocol.complete_workflow(late, complete()), Status.FAILED_PRECONDITION)
    assert await protocol.history() == history

    await protocol.complete_workflow(live, schedule("1"))
    history = await protocol.history()
    completed = history[4].workflow_task_completed
    assert (completed.scheduled_event_id, completed.started_event_id) == (2, 4)
    await refused(protocol.complete_workflow(live, schedule("2")), Status.FAILED_PRECONDITION)
    await refused(protocol.fail_workflow(live), Status.FAILED_PRECONDITION)
    assert await protocol.history() == history


async def test_expired_workflow_task_is_fenced_before_anybody_else_has_it(protocol: Protocol, clock: FakeClock) -> None:
    await protocol.start()
    late = await protocol.poll_workflow()
    clock.advance(10_000)
    await refused(protocol.complete_workflow(late, complete()), Status.FAILED_PRECONDITION)
    assert len(await protocol.history()) == 3


async def test_stale_activity_lease_drops_result(protocol: Protocol, clock: FakeClock) -> None:
    late = await protocol.scheduled_activity()
    clock.advance(10_000)  # start_to_close: the attempt is over, the next begins after the back-off
    retry = asyncio.create_task(protocol.poll_activity())
    await clock.wait_for_timer(1_000)
    clock.advance(1_000)
    live = await retry
    assert (live.attempt, live.idempotency_key) == (2, late.idempotency_key)
    assert live.lease_token > late.lease_token
    before = await protocol.history()

    await refused(protocol.complete_activity(late, payloads(b'"late"')), Status.FAILED_PRECONDITION)
    await refused(protocol.fail_activity(late, failure()), Status.FAILED_PRECONDITION)
    await refused(protocol.heartbeat(late, payloads()), Status.FAILED_PRECONDITION)
    assert await protocol.history() == before

    await protocol.complete_activity(live)
    history = await protocol.history()
    started = history[5].activity_task_started
    assert (started.attempt, started.lease_token) == (2, live.lease_token)
    assert history[6].activity_task_completed.result == payloads(b'"HI"')
    await refused(protocol.complete_activity(live), Status.FAILED_PRECONDITION)
    assert await protocol.history() == history


async def test_trigger_while_workflow_task_in_flight(protocol: Protocol) -> None:
    activity = await protocol.scheduled_activity()
    await protocol.signal()
    running = await protocol.poll_workflow()
    before = await protocol.history()

    await protocol.complete_activity(activity)
    history = await protocol.history()
    assert names(history)[len(before) :] == ["activity_task_started", "activity_task_completed"]
    assert running.history.events[-1].event_id == running.started_event_id == len(before)

    await protocol.complete_workflow(running)  # no commands: the task is completed all the same
    assert names(await protocol.history())[len(history) :] == ["workflow_task_completed", "workflow_task_scheduled"]
    following = await protocol.poll_workflow()
    assert following.previous_started_event_id == running.started_event_id
    assert names(following.history.events)[-1] == "workflow_task_started"
    assert "activity_task_completed" in names(following.history.events)


async def test_first_page_within_one_mib(protocol: Protocol) -> None:
    await protocol.start()
    for _ in range(3):
        await protocol.call_signal(size=700 * limits.KIB)
    task = await protocol.poll_workflow()
    assert 0 < task.history.ByteSize() <= 1024 * 1024
    assert task.next_page_token
    rest = await protocol.history(token=task.next_page_token)
    assert [*task.history.events, *rest] == await protocol.history()
    assert [event.event_id for event in [*task.history.events, *rest]] == list(range(1, task.started_event_id + 1))


async def test_rest_of_the_pages_ends_with_the_started_event(protocol: Protocol) -> None:
    await protocol.start()
    for _ in range(2):
        await protocol.call_signal(size=700 * limits.KIB)
    task = await protocol.poll_workflow()
    await protocol.signal()  # comes after T: the worker must not see it
    rest = await protocol.history(token=task.next_page_token)
    assert rest[-1].event_id == task.started_event_id


async def test_first_page_is_empty_where_the_first_event_alone_is_larger(protocol: Protocol) -> None:
    await protocol.start(input=sized(limits.PAYLOAD_SIZE_BYTES))
    task = await protocol.poll_workflow()
    assert not task.history.events
    assert [event.event_id for event in await protocol.history(token=task.next_page_token)] == [1, 2, 3]


@pytest.mark.parametrize("excess", [0, 1])
async def test_activity_payload_limits(protocol: Protocol, excess: int) -> None:
    size = limits.PAYLOAD_SIZE_BYTES + excess
    await protocol.start()
    task = await protocol.poll_workflow()
    if excess:
        message = await refused(
            protocol.complete_workflow(task, schedule("1", input=sized(size))), Status.INVALID_ARGUMENT
        )
        assert_names_limit(message, "input", "demo-1/1", size)
        await protocol.complete_workflow(task, schedule("1"))
    else:
        await protocol.complete_workflow(task, schedule("1", input=sized(size)))
    activity = await protocol.poll_activity()
    if excess:
        message = await refused(protocol.complete_activity(activity, sized(size)), Status.INVALID_ARGUMENT)
        assert_names_limit(message, "result", "demo-1/1", size)
        await protocol.complete_activity(activity)
    else:
        await protocol.complete_activity(activity, sized(size))
    task = await protocol.poll_workflow()
    if excess:
        before = await protocol.history()
        message = await refused(protocol.complete_workflow(task, complete(sized(size))), Status.INVALID_ARGUMENT)
        assert_names_limit(message, "result", "demo-1", size)
        assert await protocol.history() == before
    else:
        await protocol.complete_workflow(task, complete(sized(size)))
        assert len((await protocol.history())[-1].workflow_execution_completed.result.payloads[0].data) == size


def sized(size_bytes: int) -> Payloads:
    return payloads(b"x" * size_bytes)


def assert_names_limit(message: str, which: str, subject: str, size_bytes: int) -> None:
    for part in (which, subject, f"{size_bytes:,} bytes", "2 MiB"):
        assert part in message


async def test_started_event_has_the_time_at_which_the_attempt_began(protocol: Protocol, clock: FakeClock) -> None:
    clock.advance(1_000)
    activity = await protocol.scheduled_activity()
    clock.advance(2_500)
    await protocol.complete_activity(activity)
    started, completed = (await protocol.history())[5:7]
    assert (started.event_time_ms, completed.event_time_ms) == (START_MS + 1_000, START_MS + 3_500)
    assert activity.started_time_ms == started.event_time_ms

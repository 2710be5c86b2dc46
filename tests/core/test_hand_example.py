"""The hand example of the design, event by event: Echo("hi")."""

import pytest

from tests.core.bench import Bench, complete_workflow, details, payloads, schedule_activity
from tests.core.history_checks import check_history
from towline.api.common_pb2 import WORKFLOW_EXECUTION_STATUS_COMPLETED, RetryPolicy
from towline.core.task import TaskRow

NOW = 1_000_000


def echo(*, until_step: int) -> Bench:
    """The example's calls up to that step, 1 to 7."""
    box = Bench(now_ms=NOW)
    box.start(input=payloads(b"hi"), identity="client", trace_context={"traceparent": "00-1"})
    if until_step >= 2:
        first = box.take_workflow_task(identity="w1")
    if until_step >= 3:
        box.complete(first, schedule_activity("1", input=payloads(b"hi")), identity="w1")
    if until_step >= 4:
        activity = box.take_activity(identity="w2")
    if until_step >= 5:
        box.complete_activity(activity, payloads(b"HI"), identity="w2")
    if until_step >= 6:
        second = box.take_workflow_task(identity="w1")
    if until_step >= 7:
        box.complete(second, complete_workflow(payloads(b"HI")), identity="w1")
    return box


@pytest.mark.parametrize(
    ("step", "appended", "rows"),
    [
        (1, ["workflow_execution_started", "workflow_task_scheduled"], ["run-1/wt/2"]),
        (2, ["workflow_task_started"], ["run-1/wt/2"]),
        (3, ["workflow_task_completed", "activity_task_scheduled"], ["run-1/a/5"]),
        (4, [], ["run-1/a/5"]),
        (5, ["activity_task_started", "activity_task_completed", "workflow_task_scheduled"], ["run-1/wt/8"]),
        (6, ["workflow_task_started"], ["run-1/wt/8"]),
        (7, ["workflow_task_completed", "workflow_execution_completed"], []),
    ],
)
def test_what_each_step_appends_and_leaves(step: int, appended: list[str], rows: list[str]) -> None:
    before = echo(until_step=step - 1).names() if step > 1 else []
    box = echo(until_step=step)
    assert box.names() == before + appended
    assert list(box.rows) == rows
    check_history(box.history)


def test_step_1_the_run_is_started() -> None:
    box = echo(until_step=1)
    started = box.history[0].workflow_execution_started
    assert (started.namespace, started.workflow_id, started.run_id) == ("default", "demo-1", "run-1")
    assert (started.workflow_type, started.task_queue, started.input) == ("Echo", "q", payloads(b"hi"))
    assert (started.identity, started.workflow_task_timeout_ms) == ("client", 10_000)
    assert (started.first_execution_run_id, dict(started.trace_context)) == ("run-1", {"traceparent": "00-1"})
    scheduled = box.history[1].workflow_task_scheduled
    assert (scheduled.task_queue, scheduled.start_to_close_timeout_ms, scheduled.attempt) == ("q", 10_000, 1)
    assert box.workflow_row() == TaskRow(
        namespace="default",
        queue="wf:q",
        task_id="run-1/wt/2",
        run_id="run-1",
        workflow_id="demo-1",
        scheduled_event_id=2,
        attempt=1,
        visible_at_ms=NOW,
    )


def test_step_2_the_workflow_task_is_leased() -> None:
    box = echo(until_step=2)
    started = box.history[2].workflow_task_started
    assert (started.scheduled_event_id, started.identity) == (2, "w1")
    assert started.history_size_bytes == sum(event.ByteSize() for event in box.history[:2])
    row = box.workflow_row()
    assert (row.lease_token, row.started_event_id, row.lease_expires_at_ms) == (1, 3, NOW + 10_000)


def test_step_3_it_schedules_the_activity() -> None:
    box = echo(until_step=3)
    completed = box.history[3].workflow_task_completed
    assert (completed.scheduled_event_id, completed.started_event_id, completed.identity) == (2, 3, "w1")
    scheduled = box.history[4].activity_task_scheduled
    assert (scheduled.activity_id, scheduled.activity_type, scheduled.task_queue) == ("1", "Upper", "q")
    assert (scheduled.input, scheduled.workflow_task_completed_event_id) == (payloads(b"hi"), 4)
    defaults = RetryPolicy(initial_interval_ms=1_000, backoff_coefficient=2, maximum_interval_ms=100_000)
    assert scheduled.retry_policy == defaults
    assert box.activity_row().queue == "act:q"


def test_step_4_the_activity_is_leased() -> None:
    row = echo(until_step=4).activity_row()
    assert (row.attempt, row.lease_token, row.attempt_expires_at_ms) == (1, 2, NOW + 10_000)
    assert details(row).identity == "w2"


def test_step_5_its_result_is_a_trigger() -> None:
    box = echo(until_step=5)
    started = box.history[5].activity_task_started
    assert (started.scheduled_event_id, started.attempt, started.lease_token) == (5, 1, 2)
    assert started.identity == "w2"
    completed = box.history[6].activity_task_completed
    assert (completed.scheduled_event_id, completed.started_event_id, completed.identity) == (5, 6, "w2")
    assert completed.result == payloads(b"HI")


def test_step_7_the_run_is_completed() -> None:
    box = echo(until_step=7)
    completed = box.history[9].workflow_task_completed
    assert (completed.scheduled_event_id, completed.started_event_id) == (8, 9)
    closed = box.history[10].workflow_execution_completed
    assert (closed.result, closed.workflow_task_completed_event_id) == (payloads(b"HI"), 10)
    assert (box.state.status, box.state.close_time_ms) == (WORKFLOW_EXECUTION_STATUS_COMPLETED, NOW)
    assert box.timers == {}

"""The hand example of the design, event by event: Echo("hi")."""

from tests.core.bench import Bench, complete_workflow, details, payloads, schedule_activity, token
from tests.core.history_checks import check_history
from towline.api.common_pb2 import WORKFLOW_EXECUTION_STATUS_COMPLETED, RetryPolicy
from towline.core.decision import Delivered
from towline.core.task import TaskRow

NOW = 1_000_000


def test_echo() -> None:
    box = Bench(now_ms=NOW)

    box.start(input=payloads(b"hi"), identity="client", trace_context={"traceparent": "00-1"})
    started = box.history[0].workflow_execution_started
    assert box.names() == ["workflow_execution_started", "workflow_task_scheduled"]
    assert (started.workflow_id, started.run_id, started.first_execution_run_id) == ("demo-1", "run-1", "run-1")
    assert (started.workflow_type, started.task_queue, started.input) == ("Echo", "q", payloads(b"hi"))
    assert (started.identity, started.workflow_task_timeout_ms) == ("client", 10_000)
    assert dict(started.trace_context) == {"traceparent": "00-1"}
    scheduled = box.history[1].workflow_task_scheduled
    assert (scheduled.task_queue, scheduled.start_to_close_timeout_ms, scheduled.attempt) == ("q", 10_000, 1)
    assert box.rows == {
        "run-1/wt/2": TaskRow(
            namespace="default",
            queue="wf:q",
            task_id="run-1/wt/2",
            run_id="run-1",
            workflow_id="demo-1",
            scheduled_event_id=2,
            attempt=1,
            visible_at_ms=NOW,
        )
    }

    first = box.take_workflow_task(identity="w1")
    task_started = box.history[2].workflow_task_started
    assert (task_started.scheduled_event_id, task_started.identity) == (2, "w1")
    assert task_started.history_size_bytes == sum(event.ByteSize() for event in box.history[:2])
    assert (first.scheduled_event_id, first.started_event_id, first.lease_token) == (2, 3, 1)
    assert box.rows["run-1/wt/2"].lease_expires_at_ms == NOW + 10_000

    box.complete(first, schedule_activity("1", input=payloads(b"hi")), identity="w1")
    completed = box.history[3].workflow_task_completed
    assert (completed.scheduled_event_id, completed.started_event_id, completed.identity) == (2, 3, "w1")
    activity = box.history[4].activity_task_scheduled
    assert (activity.activity_id, activity.activity_type, activity.task_queue) == ("1", "Upper", "q")
    assert (activity.input, activity.workflow_task_completed_event_id) == (payloads(b"hi"), 4)
    assert activity.retry_policy == RetryPolicy(
        initial_interval_ms=1_000, backoff_coefficient=2, maximum_interval_ms=100_000
    )
    assert {task_id: row.queue for task_id, row in box.rows.items()} == {"run-1/a/5": "act:q"}

    outcome = box.deliver(box.activity_row(), identity="w2").outcome
    assert isinstance(outcome, Delivered)
    row = outcome.row
    assert len(box.history) == 5, "polling for an activity appends nothing"
    assert (row.attempt, row.lease_token, row.attempt_expires_at_ms) == (1, 2, NOW + 10_000)
    assert details(row).identity == "w2"

    box.complete_activity(token(row), payloads(b"HI"), identity="w2")
    activity_started = box.history[5].activity_task_started
    assert (activity_started.scheduled_event_id, activity_started.attempt, activity_started.lease_token) == (5, 1, 2)
    assert activity_started.identity == "w2"
    result = box.history[6].activity_task_completed
    assert (result.scheduled_event_id, result.started_event_id, result.result) == (5, 6, payloads(b"HI"))
    assert list(box.rows) == ["run-1/wt/8"]

    second = box.take_workflow_task()
    assert (second.scheduled_event_id, second.started_event_id) == (8, 9)
    box.complete(second, complete_workflow(payloads(b"HI")))
    closed = box.history[10].workflow_execution_completed
    assert (closed.result, closed.workflow_task_completed_event_id) == (payloads(b"HI"), 10)
    assert box.names() == [
        "workflow_execution_started",
        "workflow_task_scheduled",
        "workflow_task_started",
        "workflow_task_completed",
        "activity_task_scheduled",
        "activity_task_started",
        "activity_task_completed",
        "workflow_task_scheduled",
        "workflow_task_started",
        "workflow_task_completed",
        "workflow_execution_completed",
    ]
    assert box.rows == {}
    assert (box.state.status, box.state.close_time_ms) == (WORKFLOW_EXECUTION_STATUS_COMPLETED, NOW)
    check_history(box.history)

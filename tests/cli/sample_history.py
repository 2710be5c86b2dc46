"""A hand-made history with one of every kind of event, for the tests of what is shown of it."""

from typing import Any

import msgspec

from towline.api import history_pb2 as h
from towline.api.common_pb2 import (
    Payload,
    Payloads,
    RetryState,
    TimeoutType,
    WorkflowExecution,
    WorkflowExecutionStatus,
    WorkflowTaskFailedCause,
)
from towline.api.failure_pb2 import ActivityFailureInfo, ApplicationFailureInfo, Failure
from towline.api.workflow_service_pb2 import WorkflowExecutionInfo

# 2026-03-01 14:03:05 UTC.
START_MS = 1_772_373_785_000
WORKER = "worker-1@host"
CODE_BROKE = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE


def payloads(*values: object) -> Payloads:
    """The values as the default converter writes them."""
    return Payloads(
        payloads=[Payload(metadata={"encoding": b"json/plain"}, data=msgspec.json.encode(value)) for value in values]
    )


def application_failure(message: str, *, type: str) -> Failure:
    """What user code's exception becomes."""
    return Failure(message=message, application_failure_info=ApplicationFailureInfo(type=type))


def activity_failure(cause: Failure) -> Failure:
    """What an activity's failure becomes in the workflow that waited for it."""
    return Failure(
        message="activity failed",
        cause=cause,
        activity_failure_info=ActivityFailureInfo(activity_type="charge", activity_id="2"),
    )


def info() -> WorkflowExecutionInfo:
    """The run that `events` are the history of."""
    return WorkflowExecutionInfo(
        execution=WorkflowExecution(workflow_id="order-7", run_id="run-1"),
        workflow_type="Order",
        task_queue="shop",
        status=WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_FAILED,
        start_time_ms=START_MS,
        close_time_ms=START_MS + 2_345,
        history_length=17,
        history_size_bytes=4_321,
    )


def event(event_id: int, kind: str, attributes: Any, *, at_ms: int = 0) -> h.HistoryEvent:
    """One event; `kind` is the attribute's name in the contract."""
    return h.HistoryEvent(
        event_id=event_id,
        event_time_ms=START_MS + at_ms,
        event_type=h.EventType.Value(f"EVENT_TYPE_{kind.upper()}"),
        **{kind: attributes},
    )


def events() -> list[h.HistoryEvent]:
    """An order: upper works, charge fails for good, poll runs out of time; somebody terminates what is left.

    Two closing events could not stand in one history; here they do, so that every kind is shown.
    """
    declined = application_failure("card declined", type="CardError")
    return [
        event(
            1,
            "workflow_execution_started",
            h.WorkflowExecutionStartedEventAttributes(
                workflow_id="order-7",
                run_id="run-1",
                workflow_type="Order",
                task_queue="shop",
                identity="shop@host",
                input=payloads("hi", {"cents": 1200}),
            ),
        ),
        event(2, "workflow_task_scheduled", h.WorkflowTaskScheduledEventAttributes(task_queue="shop", attempt=1)),
        event(
            3,
            "workflow_task_started",
            h.WorkflowTaskStartedEventAttributes(scheduled_event_id=2, identity=WORKER, history_size_bytes=512),
            at_ms=3,
        ),
        event(
            4,
            "workflow_task_failed",
            h.WorkflowTaskFailedEventAttributes(
                scheduled_event_id=2,
                started_event_id=3,
                cause=CODE_BROKE,
                identity=WORKER,
                failure=application_failure("name 'x' is not defined", type="NameError"),
            ),
            at_ms=5,
        ),
        event(
            5, "workflow_task_scheduled", h.WorkflowTaskScheduledEventAttributes(task_queue="shop", attempt=2), at_ms=5
        ),
        event(
            6,
            "workflow_task_started",
            h.WorkflowTaskStartedEventAttributes(scheduled_event_id=5, identity=WORKER),
            at_ms=1_010,
        ),
        event(
            7,
            "workflow_task_completed",
            h.WorkflowTaskCompletedEventAttributes(scheduled_event_id=5, started_event_id=6, identity=WORKER),
            at_ms=1_015,
        ),
        event(
            8,
            "activity_task_scheduled",
            h.ActivityTaskScheduledEventAttributes(
                activity_id="1",
                activity_type="upper",
                task_queue="shop",
                input=payloads("hi"),
                start_to_close_timeout_ms=10_000,
                heartbeat_timeout_ms=2_500,
            ),
            at_ms=1_015,
        ),
        event(
            9,
            "activity_task_scheduled",
            h.ActivityTaskScheduledEventAttributes(
                activity_id="2",
                activity_type="charge",
                task_queue="shop",
                input=payloads({"cents": 1200}),
                start_to_close_timeout_ms=10_000,
            ),
            at_ms=1_015,
        ),
        event(
            10,
            "activity_task_started",
            h.ActivityTaskStartedEventAttributes(
                scheduled_event_id=8,
                identity=WORKER,
                attempt=3,
                lease_token=4,
                last_failure=application_failure("connection reset", type="ConnectionError"),
            ),
            at_ms=1_200,
        ),
        event(
            11,
            "activity_task_completed",
            h.ActivityTaskCompletedEventAttributes(
                scheduled_event_id=8, started_event_id=10, result=payloads("HI"), identity=WORKER
            ),
            at_ms=1_200,
        ),
        event(
            12,
            "workflow_execution_signaled",
            h.WorkflowExecutionSignaledEventAttributes(
                signal_name="hurry", input=payloads("please"), identity="shop@host"
            ),
            at_ms=1_300,
        ),
        event(
            13,
            "activity_task_started",
            h.ActivityTaskStartedEventAttributes(scheduled_event_id=9, identity=WORKER, attempt=1),
            at_ms=2_000,
        ),
        event(
            14,
            "activity_task_failed",
            h.ActivityTaskFailedEventAttributes(
                scheduled_event_id=9,
                started_event_id=13,
                failure=declined,
                retry_state=RetryState.RETRY_STATE_NON_RETRYABLE_FAILURE,
            ),
            at_ms=2_000,
        ),
        event(
            15,
            "activity_task_timed_out",
            h.ActivityTaskTimedOutEventAttributes(scheduled_event_id=8, failure=timeout()),
            at_ms=2_100,
        ),
        event(
            16,
            "workflow_execution_failed",
            h.WorkflowExecutionFailedEventAttributes(failure=activity_failure(declined)),
            at_ms=2_340,
        ),
        event(
            17,
            "workflow_execution_completed",
            h.WorkflowExecutionCompletedEventAttributes(result=payloads({"receipt": "r-1"})),
            at_ms=2_345,
        ),
        event(
            18,
            "workflow_execution_terminated",
            h.WorkflowExecutionTerminatedEventAttributes(reason="no longer wanted", identity="shop@host"),
            at_ms=86_400_000,
        ),
    ]


def timeout() -> Failure:
    """What the server writes when an attempt took too long."""
    failure = Failure(message="activity upper took longer than 10 s")
    failure.timeout_failure_info.timeout_type = TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE
    return failure

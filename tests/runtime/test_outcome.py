"""How a workflow ends: a decision to fail closes the run, a bug leaves it open."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

import pytest

from tests.runtime.histories import Run, broken
from towline import activity, workflow
from towline.api.common_pb2 import RetryState, TimeoutType, WorkflowTaskFailedCause
from towline.convert import DataConverter
from towline.exceptions import ActivityError, ApplicationError, CancelledError
from towline.limits import PAYLOAD_SIZE_BYTES

UNHANDLED = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE


@activity.defn(start_to_close_timeout=timedelta(seconds=10))
async def charge(cents: int) -> str:
    return f"paid {cents}"


@workflow.defn
async def pays() -> str:
    return await charge(5)


@workflow.defn
async def forgives() -> str:
    try:
        return await charge(5)
    except ActivityError as error:
        cause = error.cause
        assert isinstance(cause, ApplicationError)
        return f"{error.activity_type} {error.activity_id}: {cause.type} {list(cause.details)} {error.retry_state!r}"


def test_an_activity_error_that_nobody_catches_fails_the_workflow_with_its_causes() -> None:
    run = Run(pays)
    run.step()
    error = ApplicationError("no money", 3, type="Broke")
    error.__cause__ = KeyError("purse")
    run.fail("1", error)
    run.step()
    failure = run.failure()
    info = failure.activity_failure_info
    assert failure.message == "activity '1' of type 'charge' failed"
    assert (info.activity_id, info.activity_type, info.scheduled_event_id, info.started_event_id) == (
        "1",
        "charge",
        5,
        6,
    )
    assert (info.identity, info.retry_state) == ("worker-1", RetryState.RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED)
    assert "in pays" in failure.stack_trace
    assert failure.cause.application_failure_info.type == "Broke"
    assert failure.cause.cause.application_failure_info.type == "KeyError"


def test_a_caught_activity_error_tells_all() -> None:
    run = Run(forgives)
    run.step()
    run.fail("1", ApplicationError("no money", 3, type="Broke"))
    run.step()
    assert run.result() == "charge 1: Broke [3] <RetryState.MAXIMUM_ATTEMPTS_REACHED: 4>"


def test_a_timed_out_activity_has_the_time_out_as_its_cause() -> None:
    run = Run(pays)
    run.step()
    run.history.activity_timed_out(run.pending["1"])
    run.step()
    failure = run.failure()
    assert failure.message == "activity '1' of type 'charge' timed out"
    assert failure.cause.timeout_failure_info.timeout_type == TimeoutType.TIMEOUT_TYPE_START_TO_CLOSE


def _second(items: list[int]) -> int:
    return items[1]


@workflow.defn
async def raises(kind: str) -> None:
    match kind:
        case "application":
            raise ApplicationError("order is empty", "order-7", type="EmptyOrder", non_retryable=True)
        case "cancelled":
            raise CancelledError("stopped")
        case "group":
            raise ExceptionGroup("several", [ApplicationError("first"), ApplicationError("second")])
        case "mixed":
            raise ExceptionGroup("several", [ApplicationError("first"), KeyError("second")])
        case "bug":
            _second([])
        case "exit":
            raise SystemExit(3)
        case "cancel":
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.sleep(0)


def test_an_application_error_fails_the_workflow_as_it_is() -> None:
    run = Run(raises, "application")
    run.step()
    failure = run.failure()
    info = failure.application_failure_info
    assert (failure.message, info.type, info.non_retryable) == ("order is empty", "EmptyOrder", True)
    assert DataConverter.default.from_payloads(info.details) == ["order-7"]
    assert failure.source == "towline-python"
    assert "ApplicationError(" in failure.stack_trace
    assert "runtime/execution.py" not in failure.stack_trace


def test_any_towline_failure_fails_the_workflow() -> None:
    run = Run(raises, "cancelled")
    run.step()
    assert run.failure().HasField("canceled_failure_info")


def test_a_group_of_failures_fails_the_workflow() -> None:
    run = Run(raises, "group")
    run.step()
    assert run.failure().cause.message == "first"


@pytest.mark.parametrize(
    ("kind", "error_type"),
    [("bug", "IndexError"), ("mixed", "ExceptionGroup"), ("exit", "SystemExit")],
)
def test_anything_else_is_a_bug_and_fails_the_task(kind: str, error_type: str) -> None:
    failed = broken(Run(raises, kind).decide())
    assert failed.cause == UNHANDLED
    assert failed.failure.application_failure_info.type == error_type
    assert "in raises" in failed.failure.stack_trace


def test_a_workflow_that_cancels_itself_fails_the_task() -> None:
    failed = broken(Run(raises, "cancel").decide())
    assert failed.cause == UNHANDLED
    assert failed.failure.HasField("canceled_failure_info")


@dataclass
class Order:
    lines: list[int]


@workflow.defn
async def allocates(order: Order, strict: bool = True) -> int:
    return len(order.lines) if strict else 0


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ((Order([1, 2]), "yes"), "args[1] (5 bytes of json/plain): expected bool"),
        (({"lines": "none"},), "args[0] (16 bytes of json/plain): expected Order"),
        ((), "missing 1 required positional argument: 'order'"),
        ((Order([]), True, 3), "takes from 1 to 2 positional arguments but 3 were given"),
    ],
)
def test_wrong_arguments_fail_the_task(args: tuple[object, ...], says: str) -> None:
    failed = broken(Run(allocates, *args).decide())
    assert failed.cause == UNHANDLED
    assert says in failed.failure.message


def test_arguments_arrive_as_their_types() -> None:
    run = Run(allocates, {"lines": [1, 2]})
    run.step()
    assert run.result() == 2


@workflow.defn
async def returns(what: str) -> object:
    return object() if what == "object" else b"x" * (PAYLOAD_SIZE_BYTES + int(what))


def test_a_result_that_cannot_be_written_fails_the_task() -> None:
    failed = broken(Run(returns, "object").decide())
    assert "result of workflow 'returns' of type object cannot be written" in failed.failure.message


def test_a_result_of_just_the_limit_is_taken() -> None:
    run = Run(returns, "0")
    run.step()
    assert len(run.result()) == PAYLOAD_SIZE_BYTES


def test_a_result_over_the_limit_fails_the_task() -> None:
    failed = broken(Run(returns, "1").decide())
    assert "result of workflow 'returns' is 2.0 MiB (2097153 bytes), the limit is 2 MiB" in failed.failure.message


def test_a_result_of_the_wrong_type_fails_the_task_and_names_the_activity() -> None:
    run = Run(pays)
    run.step()
    run.complete("1", 17)
    failed = broken(run.decide())
    assert failed.failure.message == (
        "activity '1' of type 'charge': result (2 bytes of json/plain): expected str: Expected `str`, got `int`"
    )


@workflow.defn
async def asks_wrongly(how: str) -> None:
    match how:
        case "no limit":
            await workflow.execute_activity("charge")
        case "twice":
            limit = timedelta(seconds=1)
            workflow.start_activity(charge, 1, activity_id="a")
            workflow.start_activity(charge, 1, activity_id="a", start_to_close_timeout=limit)
        case "undecorated":
            await workflow.execute_activity(print)
        case "unwritable":
            await workflow.execute_activity("charge", object(), start_to_close_timeout=timedelta(seconds=1))


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("no limit", "activity 'charge' has no time limit: set start_to_close_timeout"),
        ("twice", "activity id 'a' is taken"),
        ("undecorated", "print is not an activity: decorate it with @activity.defn"),
        ("unwritable", "args[0] of activity '1' of type 'charge' of type object cannot be written"),
    ],
)
def test_what_cannot_be_asked_for_is_a_bug(how: str, says: str) -> None:
    assert says in broken(Run(asks_wrongly, how).decide()).failure.message

"""What a call of an activity says to the server."""

from datetime import timedelta
from typing import assert_type

import pytest

from tests.runtime.histories import Run, asked
from towline import RetryPolicy, activity, workflow
from towline.api import common_pb2
from towline.api.command_pb2 import ScheduleActivityTaskCommandAttributes
from towline.convert import DataConverter


@activity.defn(start_to_close_timeout=timedelta(seconds=10), heartbeat_timeout=timedelta(seconds=2))
async def copy(source: str, target: str = "there") -> int:
    return len(source + target)


@activity.defn(name="Plain", schedule_to_close_timeout=timedelta(microseconds=1))
def plain(number: int) -> int:
    return number


@workflow.defn
async def options() -> None:
    policy = RetryPolicy(
        initial_interval=timedelta(seconds=3),
        backoff_coefficient=1.5,
        maximum_interval=timedelta(minutes=1),
        maximum_attempts=4,
        non_retryable_error_types=["Broke"],
    )
    workflow.start_activity(copy, "here")
    workflow.start_activity(copy, "here", "now", start_to_close_timeout=timedelta(seconds=1), activity_id="mine")
    workflow.start_activity(plain, 3, retry_policy=policy, task_queue="slow", activity_id="4")
    workflow.start_activity("byName", schedule_to_start_timeout=timedelta(1), schedule_to_close_timeout=timedelta(2))
    assert_type(await workflow.execute_activity(copy, "here"), int)


def _input(*values: object) -> common_pb2.Payloads:
    return DataConverter.default.to_payloads(values)


def test_the_call_says_what_it_says_and_the_definition_says_the_rest() -> None:
    commands = Run(options).step()
    expected = [
        ScheduleActivityTaskCommandAttributes(
            activity_id="1",
            activity_type="copy",
            input=_input("here"),
            start_to_close_timeout_ms=10_000,
            heartbeat_timeout_ms=2_000,
        ),
        ScheduleActivityTaskCommandAttributes(
            activity_id="mine",
            activity_type="copy",
            input=_input("here", "now"),
            start_to_close_timeout_ms=1_000,
            heartbeat_timeout_ms=2_000,
        ),
        ScheduleActivityTaskCommandAttributes(
            activity_id="4",
            activity_type="Plain",
            task_queue="slow",
            input=_input(3),
            schedule_to_close_timeout_ms=1,
            retry_policy=common_pb2.RetryPolicy(
                initial_interval_ms=3_000,
                backoff_coefficient=1.5,
                maximum_interval_ms=60_000,
                maximum_attempts=4,
                non_retryable_error_types=["Broke"],
            ),
        ),
        ScheduleActivityTaskCommandAttributes(
            activity_id="2",
            activity_type="byName",
            input=_input(),
            schedule_to_start_timeout_ms=86_400_000,
            schedule_to_close_timeout_ms=172_800_000,
        ),
    ]
    assert [command.schedule_activity for command in commands[:4]] == expected
    assert asked(commands[4:]) == [("3", "copy")], "the next number; 4 is taken, 3 is not"


@workflow.defn
async def by_name(result_type: str) -> str:
    limit = timedelta(seconds=1)
    if result_type == "int":
        number = await workflow.execute_activity("n", result_type=int, start_to_close_timeout=limit)
        assert_type(number, int)
        return repr(number)
    return repr(await workflow.execute_activity("n", start_to_close_timeout=limit))


@pytest.mark.parametrize(("result_type", "result"), [("int", "3"), ("", "3")])
def test_a_result_by_name_is_decoded_as_told(result_type: str, result: str) -> None:
    run = Run(by_name, result_type)
    run.step()
    run.complete("1", 3)
    run.step()
    assert run.result() == result


@workflow.defn
async def awaits_twice() -> list[int]:
    handle = workflow.start_activity(copy, "x")
    assert_type(handle, workflow.ActivityHandle[int])
    return [await handle, await handle, int(handle.activity_id)]


def test_a_handle_may_be_awaited_more_than_once() -> None:
    run = Run(awaits_twice)
    run.step()
    run.complete("1", 7)
    run.step()
    assert run.result() == [7, 7, 1]


@workflow.defn
async def sync_activity() -> int:
    return await workflow.execute_activity(plain, 4)


def test_a_sync_activity_is_awaited_too() -> None:
    run = Run(sync_activity)
    assert asked(run.step()) == [("1", "Plain")]
    run.complete("1", 4)
    run.step()
    assert run.result() == 4

"""Wrong calls of activities: each error names the activity, the fault and what to do."""

import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Final, assert_type

import pytest

from tests.runtime.histories import Run, asked, broken
from towline import RetryPolicy, activity, workflow

T: Final = timedelta(seconds=1)


@activity.defn(start_to_close_timeout=T)
async def one(number: int) -> int:
    return number


@activity.defn(name="Two")
async def two(number: int, other: int = 1) -> int:
    return number + other


# What the workflow below does; there is no other way into it, as a mistake has no place in a history.
MISTAKES: Final[dict[str, Callable[[], Awaitable[Any]]]] = {
    "options of a direct call": lambda: two(1, 2, start_to_close_timeout=T),  # type: ignore[call-arg]
    "too many": lambda: one(1, 2, 3),  # type: ignore[call-arg]
    "too few": lambda: workflow.execute_activity(one),  # type: ignore[call-arg,arg-type]
    "another name": lambda: one(1, numbr=2),  # type: ignore[call-arg]
    "no timedelta": lambda: workflow.execute_activity(two, 1, start_to_close_timeout=5),  # type: ignore[call-overload]
    "not positive": lambda: workflow.execute_activity("byName", 1, start_to_close_timeout=-T),
    "unknown option": lambda: workflow.execute_activity(two, 1, timeout=T),  # type: ignore[call-overload]
    "both": lambda: workflow.execute_activity(two, 1, args=[2]),  # type: ignore[call-overload]
    "no list": lambda: workflow.execute_activity(two, args=3),  # type: ignore[call-overload]
    "text": lambda: workflow.execute_activity(two, args="ab"),
}

TOLD: Final = {
    "options of a direct call": "activity 'Two': got an unexpected keyword argument 'start_to_close_timeout': it takes "
    "(number: int, other: int = 1); options go to workflow.execute_activity(two, ..., start_to_close_timeout=...)",
    "too many": "activity 'one': too many positional arguments: it takes (number: int)",
    "too few": "activity 'one': missing a required argument: 'number': it takes (number: int)",
    "another name": "activity 'one': got an unexpected keyword argument 'numbr': it takes (number: int)",
    "no timedelta": "activity 'Two': start_to_close_timeout is 5: it must be a timedelta, such as timedelta(seconds=5)",
    "not positive": "activity 'byName': start_to_close_timeout is -1 day, 23:59:59: it must be longer than nothing; "
    "leave it out for no limit",
    "unknown option": "activity 'Two' has no option timeout: arguments travel by position, or in args=[...]; the "
    "options are activity_id, start_to_close_timeout, schedule_to_close_timeout, schedule_to_start_timeout, "
    "heartbeat_timeout, retry_policy, task_queue",
    "both": "activity 'Two' got arguments one by one and in args=[...]: give all of them in one way",
    "no list": "activity 'Two': args is 3: it must be the list of arguments, args=[...]",
    "text": "activity 'Two': args is 'ab': it must be the list of arguments, args=[...]",
}


@workflow.defn
async def mistaken(mistake: str) -> None:
    await MISTAKES[mistake]()


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_call_is_told(mistake: str) -> None:
    assert broken(Run(mistaken, mistake).decide()).failure.message == TOLD[mistake]


@workflow.defn
async def together() -> int:
    workflow.start_activity("byName", args=["a", 1], start_to_close_timeout=T)
    handle = workflow.start_activity(one, args=(7,))
    assert_type(handle, workflow.ActivityHandle[int])
    number = await workflow.execute_activity(two, args=[1, 2], start_to_close_timeout=T)
    return assert_type(number, int)


def test_arguments_may_stand_together() -> None:
    run = Run(together)
    commands = run.step()
    assert asked(commands) == [("1", "byName"), ("2", "one"), ("3", "Two")]
    inputs = [run.history.converter.from_payloads(c.schedule_activity.input) for c in commands]
    assert inputs == [["a", 1], [7], [1, 2]]


def test_a_policy_wants_timedeltas_too() -> None:
    with pytest.raises(TypeError, match=re.escape("maximum_interval is 60: it must be a timedelta")):
        RetryPolicy(maximum_interval=60)  # type: ignore[arg-type]

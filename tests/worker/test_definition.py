"""Functions as activities."""

from collections.abc import Awaitable
from datetime import timedelta
from typing import Any

import pytest

from towline import activity
from towline.activity.caller import current_caller


@activity.defn
async def upper(text: str) -> str:
    """Make it loud."""
    return text.upper()


@activity.defn(name="add-up", start_to_close_timeout=timedelta(seconds=3), task_queue="sums")
def add(first: int, second: int = 2, *rest: float) -> float:
    return first + second + sum(rest)


class Recorder:
    """An `ActivityCaller` that only writes down what is called."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[object, ...]]] = []

    def call(self, definition: activity.ActivityDefinition[..., Any], args: tuple[object, ...]) -> Awaitable[Any]:
        self.calls.append((definition.name, args))
        return _durable()


async def _durable() -> str:
    return "durable"


async def test_outside_of_workflows_a_call_is_a_call() -> None:
    assert await upper("hi") == "HI"
    assert add(1, second=5) == 6


async def test_inside_a_workflow_a_call_is_scheduled_by_position() -> None:
    recorder = Recorder()
    token = current_caller.set(recorder)
    try:
        assert await upper(text="hi") == "durable"
        assert await add(second=4, first=1) == "durable"  # type: ignore[misc]
        assert await add(1) == "durable"  # type: ignore[misc]
        assert await add(1, 2, 3.5) == "durable"  # type: ignore[misc]
        with pytest.raises(TypeError, match="missing a required argument"):
            await upper()  # type: ignore[call-arg]
    finally:
        current_caller.reset(token)
    assert recorder.calls == [("upper", ("hi",)), ("add-up", (1, 4)), ("add-up", (1,)), ("add-up", (1, 2, 3.5))]


def test_a_definition_knows_name_types_and_options() -> None:
    assert (upper.name, upper.is_async, upper.arg_types, upper.return_type) == ("upper", True, (str,), str)
    assert (add.name, add.is_async, add.arg_types, add.return_type) == ("add-up", False, (int, int), float)
    assert add.types_of(1) == (int,)
    assert add.types_of(4) == (int, int, float, float)
    assert upper.types_of(2) == (str, None)
    assert add.options == activity.ActivityOptions(start_to_close_timeout=timedelta(seconds=3), task_queue="sums")
    assert upper.options == activity.ActivityOptions()
    assert upper.__doc__ == "Make it loud."


def test_callable_objects_are_activities_too() -> None:
    class Greeter:
        async def __call__(self, name: str) -> str:
            return f"hello {name}"

    greeter = activity.defn(Greeter())
    assert (greeter.name, greeter.is_async, greeter.arg_types) == ("Greeter", True, (str,))


def test_methods_bind_to_their_object() -> None:
    class Shop:
        @activity.defn(name="greet-guest", start_to_close_timeout=timedelta(seconds=1))
        def greet(self, guest: str) -> str:
            return f"{type(self).__name__} greets {guest}"

    bound = Shop().greet
    assert bound("Bo") == "Shop greets Bo"
    assert (bound.name, bound.arg_types, bound.options) == ("greet-guest", (str,), Shop.greet.options)


def test_what_cannot_travel_by_position_is_refused() -> None:
    with pytest.raises(TypeError, match="required keyword-only parameters"):

        @activity.defn
        def named(*, size: int) -> None: ...

    @activity.defn
    def optional(size: int = 1, *, unit: str = "m") -> None: ...

    token = current_caller.set(Recorder())
    try:
        with pytest.raises(TypeError, match="travel by position"):
            optional(1, unit="km")
    finally:
        current_caller.reset(token)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"initial_interval": timedelta(0)}, "initial_interval"),
        ({"backoff_coefficient": 0.5}, "1 or more"),
        ({"maximum_interval": timedelta(milliseconds=1)}, "shorter than"),
        ({"maximum_attempts": -1}, "0 for no limit"),
        ({"non_retryable_error_types": "ValueError"}, "a list of type names"),
    ],
)
def test_senseless_retry_policies_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        activity.RetryPolicy(**options)


def test_senseless_options_are_refused() -> None:
    with pytest.raises(ValueError, match="heartbeat_timeout"):
        activity.defn(heartbeat_timeout=timedelta(0))
    with pytest.raises(TypeError, match="unexpected keyword"):
        activity.defn(timeout=timedelta(1))  # type: ignore[call-overload]

"""Activities, from a workflow."""

import dataclasses
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from datetime import timedelta
from typing import Any, TypedDict, TypeVar, TypeVarTuple, Unpack, overload

from towline.activity.definition import ActivityDefinition
from towline.activity.options import ActivityOptions, RetryPolicy
from towline.workflow.call import Call
from towline.workflow.context import context
from towline.workflow.request import ActivityHandle, ActivityRequest

Args = TypeVarTuple("Args")
R = TypeVar("R")


class CallOptions(TypedDict, total=False):
    """What a call can say about an activity (see `activity.ActivityOptions`); the rest is as its definition says."""

    activity_id: str
    start_to_close_timeout: timedelta
    schedule_to_close_timeout: timedelta
    schedule_to_start_timeout: timedelta
    heartbeat_timeout: timedelta
    retry_policy: RetryPolicy
    task_queue: str


@overload
def start_activity(
    activity: Callable[[Unpack[Args]], Awaitable[R]], *args: *Args, **options: Unpack[CallOptions]
) -> ActivityHandle[R]: ...
@overload
def start_activity(
    activity: Callable[[Unpack[Args]], R], *args: *Args, **options: Unpack[CallOptions]
) -> ActivityHandle[R]: ...
@overload
def start_activity(
    activity: Callable[..., Awaitable[R]], *, args: Sequence[Any], **options: Unpack[CallOptions]
) -> ActivityHandle[R]: ...
@overload
def start_activity(
    activity: Callable[..., R], *, args: Sequence[Any], **options: Unpack[CallOptions]
) -> ActivityHandle[R]: ...
@overload
def start_activity(
    activity: str, *arguments: Any, result_type: type[R], args: Sequence[Any] = ..., **options: Unpack[CallOptions]
) -> ActivityHandle[R]: ...
@overload
def start_activity(
    activity: str, *arguments: Any, args: Sequence[Any] = ..., **options: Unpack[CallOptions]
) -> ActivityHandle[Any]: ...
def start_activity(  # type: ignore[misc]  # mypy cannot see that *args takes any *Args
    activity: Any, *args: Any, **options: Any
) -> ActivityHandle[Any]:
    """Schedule an activity, by its definition or by its name, and go on. Await the handle for the result.

    The arguments stand one by one, or together in `args=[...]`. `result_type` says what to decode the result of an
    activity that is called by name as. Raises NotInWorkflow; ValueError if no time limit is set or an option makes no
    sense; EncodeError; TypeError if `activity` is neither, or does not take such arguments or options.
    """
    return context("start_activity").start_activity(_request(activity, args, options))


@overload
async def execute_activity(
    activity: Callable[[Unpack[Args]], Awaitable[R]], *args: *Args, **options: Unpack[CallOptions]
) -> R: ...
@overload
async def execute_activity(
    activity: Callable[[Unpack[Args]], R], *args: *Args, **options: Unpack[CallOptions]
) -> R: ...
@overload
async def execute_activity(
    activity: Callable[..., Awaitable[R]], *, args: Sequence[Any], **options: Unpack[CallOptions]
) -> R: ...
@overload
async def execute_activity(activity: Callable[..., R], *, args: Sequence[Any], **options: Unpack[CallOptions]) -> R: ...
@overload
async def execute_activity(
    activity: str, *arguments: Any, result_type: type[R], args: Sequence[Any] = ..., **options: Unpack[CallOptions]
) -> R: ...
@overload
async def execute_activity(
    activity: str, *arguments: Any, args: Sequence[Any] = ..., **options: Unpack[CallOptions]
) -> Any: ...
def execute_activity(  # type: ignore[misc]  # as above
    activity: Any, *args: Any, **options: Any
) -> Coroutine[Any, Any, Any]:
    """Schedule an activity and wait for its result. As `start_activity`; raises ActivityError too."""
    return Call(lambda: _execute(activity, args, options))


async def _execute(activity: Any, args: tuple[object, ...], given: dict[str, Any]) -> Any:
    return await context("execute_activity").start_activity(_request(activity, args, given))


def request_of(definition: ActivityDefinition[..., Any], args: tuple[object, ...]) -> ActivityRequest:
    """A call of the activity just as its definition says."""
    return ActivityRequest(definition.name, args, definition.options, definition.return_type)


def _request(activity: Any, args: tuple[object, ...], given: dict[str, Any]) -> ActivityRequest:
    result_type = given.pop("result_type", None)
    activity_id = given.pop("activity_id", None)
    if "args" in given:
        args = _together(activity, args, given.pop("args"))
    if isinstance(activity, str):
        return ActivityRequest(activity, args, _options(activity, ActivityOptions(), given), result_type, activity_id)
    if not isinstance(activity, ActivityDefinition):
        label = getattr(activity, "__qualname__", repr(activity))
        raise TypeError(f"{label} is not an activity: decorate it with @activity.defn, or give the activity's name")
    options = _options(activity.name, activity.options, given)
    args = activity.positional(args, {})
    return ActivityRequest(activity.name, args, options, result_type or activity.return_type, activity_id)


def _together(activity: Any, args: tuple[object, ...], given: Any) -> tuple[object, ...]:
    name = activity if isinstance(activity, str) else getattr(activity, "name", repr(activity))
    if args:
        raise TypeError(f"activity {name!r} got arguments one by one and in args=[...]: give all of them in one way")
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise TypeError(f"activity {name!r}: args is {given!r}: it must be the list of arguments, args=[...]")
    return tuple(given)


def _options(name: str, defined: ActivityOptions, given: dict[str, Any]) -> ActivityOptions:
    if not given:
        return defined
    unknown = sorted(given.keys() - CallOptions.__annotations__.keys())
    if unknown:
        raise TypeError(
            f"activity {name!r} has no option {', '.join(unknown)}: arguments travel by position, or in args=[...]; "
            f"the options are {', '.join(CallOptions.__annotations__)}"
        )
    try:
        return dataclasses.replace(defined, **given)
    except (TypeError, ValueError) as error:
        raise type(error)(f"activity {name!r}: {error}") from None

"""Activities, from a workflow."""

import dataclasses
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, TypedDict, TypeVar, TypeVarTuple, Unpack, overload

from towline.activity.definition import ActivityDefinition
from towline.activity.options import ActivityOptions, RetryPolicy
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
    activity: str, *args: Any, result_type: type[R], **options: Unpack[CallOptions]
) -> ActivityHandle[R]: ...
@overload
def start_activity(activity: str, *args: Any, **options: Unpack[CallOptions]) -> ActivityHandle[Any]: ...
def start_activity(  # type: ignore[misc]  # mypy cannot see that *args takes any *Args
    activity: Any, *args: Any, **options: Any
) -> ActivityHandle[Any]:
    """Schedule an activity, by its definition or by its name, and go on. Await the handle for the result.

    `result_type` says what to decode the result of an activity that is called by name as. Raises NotInWorkflow;
    ValueError if no time limit is set or an option makes no sense; EncodeError; TypeError if `activity` is neither.
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
async def execute_activity(activity: str, *args: Any, result_type: type[R], **options: Unpack[CallOptions]) -> R: ...
@overload
async def execute_activity(activity: str, *args: Any, **options: Unpack[CallOptions]) -> Any: ...
async def execute_activity(  # type: ignore[misc]  # as above
    activity: Any, *args: Any, **options: Any
) -> Any:
    """Schedule an activity and wait for its result. As `start_activity`; raises ActivityError too."""
    return await context("execute_activity").start_activity(_request(activity, args, options))


def request_of(definition: ActivityDefinition[..., Any], args: tuple[object, ...]) -> ActivityRequest:
    """A call of the activity just as its definition says."""
    return ActivityRequest(definition.name, args, definition.options, definition.return_type)


def _request(activity: Any, args: tuple[object, ...], given: dict[str, Any]) -> ActivityRequest:
    result_type = given.pop("result_type", None)
    activity_id = given.pop("activity_id", None)
    if isinstance(activity, str):
        return ActivityRequest(activity, args, ActivityOptions(**given), result_type, activity_id)
    if not isinstance(activity, ActivityDefinition):
        label = getattr(activity, "__qualname__", repr(activity))
        raise TypeError(f"{label} is not an activity: decorate it with @activity.defn, or give the activity's name")
    options = dataclasses.replace(activity.options, **given) if given else activity.options
    args = activity.positional(args, {})
    return ActivityRequest(activity.name, args, options, result_type or activity.return_type, activity_id)

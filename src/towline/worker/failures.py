"""Whatever came out of user code, as a Failure."""

import asyncio
from typing import Final

from towline.activity import ActivityCancelled, CancelRequested, WorkerShutdown
from towline.api.failure_pb2 import Failure
from towline.convert import FailureConverter
from towline.exceptions import ApplicationError, CancelledError

_KINDS: Final = {
    "application_failure_info": "ApplicationError",
    "timeout_failure_info": "TimeoutError",
    "canceled_failure_info": "CancelledError",
    "terminated_failure_info": "TerminatedError",
    "server_failure_info": "ServerError",
    "activity_failure_info": "ActivityError",
}


def failure_of_activity(
    error: BaseException, cause: ActivityCancelled | None, *, converter: FailureConverter
) -> Failure:
    """The failure that an activity's attempt ends with, given what it raised and why it was told to stop, if it was.

    An error of the code's own stays what it is, also after a cancellation. What only says "I was cancelled" becomes
    what the cause says: cancelled for good if the workflow wanted that, an ordinary failure (tried again) otherwise.
    """
    if not isinstance(error, asyncio.CancelledError | ActivityCancelled):
        return failure_of(error, converter=converter)
    match cause:
        case CancelRequested():
            told: Exception = CancelledError(str(cause))
            told.__cause__ = error
        case WorkerShutdown():
            # In place of the error, not on top of it: that one carries the same text.
            told = ApplicationError(str(cause), type="WorkerShutdown").with_traceback(error.__traceback__)
            told.__cause__ = error.__cause__
        case _:
            told = ApplicationError(
                "the activity cancelled itself: nobody else had asked for it", type="CancelledError"
            )
            told.__cause__ = error
    return failure_of(told, converter=converter)


def failure_of(error: BaseException, *, converter: FailureConverter) -> Failure:
    """The error with type, stack and causes.

    One that is no Exception (SystemExit and its like, which would end the process) is told so in the message.
    """
    try:
        failure = converter.to_failure(error)
    except Exception as problem:
        failure = _bare_failure(error, problem)
    if not isinstance(error, Exception):
        failure.message = f"{type(error).__name__} was raised, and contained to this task: {failure.message}"
    return failure


def headline(failure: Failure) -> str:
    """`IndexError: list index out of range`: what kind of failure, and its message, without its causes."""
    kind = failure.application_failure_info.type or _KINDS.get(failure.WhichOneof("failure_info") or "", "Failure")
    return f"{kind}: {failure.message}"


def stack_of(failure: Failure) -> str:
    """The failure and its causes, each as Python prints a traceback; what was raised last comes first."""
    stack = f"Traceback (most recent call last):\n{failure.stack_trace}{headline(failure)}"
    return f"{stack}\n\ncaused by\n\n{stack_of(failure.cause)}" if failure.HasField("cause") else stack


def _bare_failure(error: BaseException, problem: Exception) -> Failure:
    failure = Failure(message=f"{type(error).__name__} (the failure converter raised {type(problem).__name__})")
    failure.source = "towline-python"
    failure.application_failure_info.type = type(error).__name__
    return failure

"""Whatever came out of user code, as a Failure."""

import asyncio

from towline.activity import ActivityCancelled, CancelRequested, WorkerShutdown
from towline.api.failure_pb2 import Failure
from towline.convert import FailureConverter
from towline.exceptions import ApplicationError, CancelledError


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
        case WorkerShutdown():
            told = ApplicationError(str(cause), type="WorkerShutdown")
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


def _bare_failure(error: BaseException, problem: Exception) -> Failure:
    failure = Failure(message=f"{type(error).__name__} (the failure converter raised {type(problem).__name__})")
    failure.source = "towline-python"
    failure.application_failure_info.type = type(error).__name__
    return failure

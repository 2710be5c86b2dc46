"""The errors that cross processes. Names and meanings are those of `temporalio.exceptions`.

Raising a `FailureError` in a workflow fails the workflow execution; anything else is a bug and fails the workflow
task, which is tried again until the code is repaired.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from enum import IntEnum
from typing import Any

from towline.api.failure_pb2 import Failure

__all__ = [
    "ActivityError",
    "ApplicationError",
    "CancelledError",
    "FailureError",
    "RetryState",
    "ServerError",
    "TerminatedError",
    "TimeoutError",
    "TimeoutType",
    "TowlineError",
    "WorkflowAlreadyStartedError",
    "is_cancelled_exception",
]


class RetryState(IntEnum):
    """Why a failure was, or was not, tried again. Numbers are the contract's."""

    UNSPECIFIED = 0
    IN_PROGRESS = 1
    NON_RETRYABLE_FAILURE = 2
    TIMEOUT = 3
    MAXIMUM_ATTEMPTS_REACHED = 4
    RETRY_POLICY_NOT_SET = 5
    INTERNAL_SERVER_ERROR = 6
    CANCEL_REQUESTED = 7


class TimeoutType(IntEnum):
    """Which limit an attempt ran into. Numbers are the contract's."""

    UNSPECIFIED = 0
    START_TO_CLOSE = 1
    SCHEDULE_TO_START = 2
    SCHEDULE_TO_CLOSE = 3
    HEARTBEAT = 4


class TowlineError(Exception):
    """The base of every error that Towline raises."""

    @property
    def cause(self) -> BaseException | None:
        """What caused it: `__cause__`."""
        return self.__cause__


class FailureError(TowlineError):
    """An error that can be written to history and read back. Its cause is set with `raise … from …`.

    `failure` is the message it was made from, with the stack of the place where it was first raised; None if it was
    raised in this process.
    """

    def __init__(self, message: str, *, failure: Failure | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.failure = failure


class ApplicationError(FailureError):
    """User code failed, and says how.

    `type` is matched against RetryPolicy.non_retryable_error_types (None: the class name of a subclass, or none);
    `details` are any values the converter takes; `non_retryable` stops further attempts; `next_retry_delay` takes the
    place of the retry policy's delay before the next attempt.
    """

    def __init__(
        self,
        message: str,
        *details: Any,
        type: str | None = None,
        non_retryable: bool = False,
        next_retry_delay: timedelta | None = None,
        failure: Failure | None = None,
    ) -> None:
        super().__init__(message, failure=failure)
        self.details: Sequence[Any] = details
        self.type = type
        self.non_retryable = non_retryable
        self.next_retry_delay = next_retry_delay

    def __str__(self) -> str:
        return f"{self.type}: {self.message}" if self.type else self.message

    def __repr__(self) -> str:
        values = [self.message, *self.details]
        named = {"type": self.type, "non_retryable": self.non_retryable, "next_retry_delay": self.next_retry_delay}
        told = [repr(value) for value in values] + [f"{name}={value!r}" for name, value in named.items() if value]
        return f"{type(self).__name__}({', '.join(told)})"


class CancelledError(FailureError):
    """The work was cancelled. Not an `asyncio.CancelledError`: it is what one becomes on its way to history."""

    def __init__(self, message: str = "Cancelled", *details: Any, failure: Failure | None = None) -> None:
        super().__init__(message, failure=failure)
        self.details: Sequence[Any] = details


class TerminatedError(FailureError):
    """The run was ended from outside. `details` is whatever the terminator gave."""

    def __init__(self, message: str, *details: Any, failure: Failure | None = None) -> None:
        super().__init__(message, failure=failure)
        self.details: Sequence[Any] = details


class TimeoutError(FailureError):
    """A time limit passed. `last_heartbeat_details` is what the last heartbeat of the activity brought."""

    def __init__(
        self,
        message: str,
        *,
        type: TimeoutType | None = None,
        last_heartbeat_details: Sequence[Any] = (),
        failure: Failure | None = None,
    ) -> None:
        super().__init__(message, failure=failure)
        self.type = type
        self.last_heartbeat_details = last_heartbeat_details


class ServerError(FailureError):
    """The server could not go on."""

    def __init__(self, message: str, *, non_retryable: bool = False, failure: Failure | None = None) -> None:
        super().__init__(message, failure=failure)
        self.non_retryable = non_retryable


class ActivityError(FailureError):
    """An activity failed for good; `cause` says how. Event ids are those of the run that asked for it (0: none)."""

    def __init__(
        self,
        message: str,
        *,
        scheduled_event_id: int = 0,
        started_event_id: int = 0,
        identity: str = "",
        activity_type: str = "",
        activity_id: str = "",
        retry_state: RetryState | None = None,
        failure: Failure | None = None,
    ) -> None:
        super().__init__(message, failure=failure)
        self.scheduled_event_id = scheduled_event_id
        self.started_event_id = started_event_id
        self.identity = identity
        self.activity_type = activity_type
        self.activity_id = activity_id
        self.retry_state = retry_state


class WorkflowAlreadyStartedError(FailureError):
    """The workflow id has an open run that another request started. `run_id` is that run's, where it is known."""

    def __init__(self, workflow_id: str, workflow_type: str, *, run_id: str | None = None) -> None:
        super().__init__(f"workflow {workflow_id!r} is already running: use its handle, or start another workflow id")
        self.workflow_id = workflow_id
        self.workflow_type = workflow_type
        self.run_id = run_id


def is_cancelled_exception(error: BaseException) -> bool:
    """True: the error says that work was cancelled, here or in an activity."""
    if isinstance(error, ActivityError):
        return isinstance(error.cause, CancelledError)
    return isinstance(error, asyncio.CancelledError | CancelledError)

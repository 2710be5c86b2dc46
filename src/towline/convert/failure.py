"""Errors to failures and back."""

import asyncio
import traceback
from collections.abc import Sequence
from datetime import timedelta
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, TypeVar

from towline.api.common_pb2 import Payloads
from towline.api.failure_pb2 import Failure
from towline.convert.bounds import CHAIN_LIMIT, bound
from towline.convert.errors import ConversionError
from towline.exceptions import (
    ActivityError,
    ApplicationError,
    CancelledError,
    FailureError,
    RetryState,
    ServerError,
    TerminatedError,
    TimeoutError,
    TimeoutType,
)

if TYPE_CHECKING:
    from towline.convert.converter import DataConverter

E = TypeVar("E", bound=IntEnum)

SOURCE: Final = "towline-python"


class FailureConverter:
    """Writes any exception as a Failure, and reads a Failure as the exception of its kind. Never raises itself."""

    def __init__(self, converter: "DataConverter") -> None:
        self._converter = converter

    def to_failure(self, error: BaseException) -> Failure:
        """The error with its stack and its causes (`__cause__`, else `__context__` unless that is suppressed).

        A Towline failure keeps what it is. Any other exception becomes an application failure of its class name; it
        may say more with an attribute or method `non_retryable` (true: no further attempt) and `failure_type` (a name
        in place of the class's). The outcome is at most `bounds.FAILURE_LIMIT_BYTES` long.
        """
        failure = Failure()
        node, link = failure, error
        seen: set[int] = set()
        for _ in range(CHAIN_LIMIT + 1):
            self._write(node, link)
            seen.add(id(link))
            cause = _cause_of(link)
            if cause is None or id(cause) in seen or node.HasField("cause"):
                break
            node, link = node.cause, cause
        return bound(failure)

    def from_failure(self, failure: Failure) -> FailureError:
        """The error of the failure's kind, its `__cause__` the error of the failure's cause."""
        error = self._read(failure)
        if failure.HasField("cause"):
            error.__cause__ = self.from_failure(failure.cause)
        return error

    def _write(self, node: Failure, error: BaseException) -> None:
        if isinstance(error, FailureError) and error.failure is not None:
            node.CopyFrom(error.failure)  # it came from history, maybe from another language
            return
        node.source = SOURCE
        node.message = _text(error.message if isinstance(error, FailureError) else error)
        node.stack_trace = _stack(error)
        self._write_info(node, error)

    def _write_info(self, node: Failure, error: BaseException) -> None:
        match error:
            case ApplicationError():
                self._write_application(node, error)
            case CancelledError():
                node.canceled_failure_info.details.CopyFrom(self._details(error.details))
            case asyncio.CancelledError():
                node.canceled_failure_info.SetInParent()
            case TimeoutError():
                node.timeout_failure_info.timeout_type = int(error.type or 0)  # type: ignore[assignment]
                node.timeout_failure_info.last_heartbeat_details.CopyFrom(self._details(error.last_heartbeat_details))
            case TerminatedError():
                node.terminated_failure_info.SetInParent()
            case ServerError():
                node.server_failure_info.non_retryable = error.non_retryable
            case ActivityError():
                _write_activity(node, error)
            case _:
                info = node.application_failure_info
                info.type = _text(_said(error, "failure_type") or type(error).__name__)
                info.non_retryable = bool(_said(error, "non_retryable"))

    def _write_application(self, node: Failure, error: ApplicationError) -> None:
        info = node.application_failure_info
        own_class = "" if type(error) is ApplicationError else type(error).__name__
        info.type = _text(error.type or own_class)
        info.non_retryable = error.non_retryable
        if error.details:
            info.details.CopyFrom(self._details(error.details))
        if error.next_retry_delay is not None:
            info.next_retry_delay_ms = max(0, error.next_retry_delay // timedelta(milliseconds=1))

    def _read(self, failure: Failure) -> FailureError:
        message = failure.message
        match failure.WhichOneof("failure_info"):
            case "application_failure_info":
                return self._read_application(failure)
            case "canceled_failure_info":
                details = self._values(failure.canceled_failure_info.details)
                return CancelledError(message or "Cancelled", *details, failure=failure)
            case "timeout_failure_info":
                timeout = failure.timeout_failure_info
                return TimeoutError(
                    message,
                    type=_known(TimeoutType, timeout.timeout_type),
                    last_heartbeat_details=self._values(timeout.last_heartbeat_details),
                    failure=failure,
                )
            case "terminated_failure_info":
                return TerminatedError(message, failure=failure)
            case "server_failure_info":
                return ServerError(message, non_retryable=failure.server_failure_info.non_retryable, failure=failure)
            case "activity_failure_info":
                return _read_activity(failure)
            case None:
                return FailureError(message, failure=failure)

    def _read_application(self, failure: Failure) -> ApplicationError:
        info = failure.application_failure_info
        return ApplicationError(
            failure.message,
            *self._values(info.details),
            type=info.type or None,
            non_retryable=info.non_retryable,
            next_retry_delay=timedelta(milliseconds=info.next_retry_delay_ms) if info.next_retry_delay_ms else None,
            failure=failure,
        )

    def _details(self, details: Sequence[Any]) -> Payloads:
        try:
            return self._converter.to_payloads(details, what="details[{}]")
        except ConversionError:
            return self._converter.to_payloads([_text(repr(detail)) for detail in details], what="details[{}]")

    def _values(self, details: Payloads) -> list[Any]:
        try:
            return self._converter.from_payloads(details, what="details[{}]")
        except ConversionError:
            return list(details.payloads)  # whoever reads it may know more than this converter


def _cause_of(error: BaseException) -> BaseException | None:
    if error.__cause__ is not None:
        return error.__cause__
    if isinstance(error, BaseExceptionGroup):
        return error.exceptions[0]  # a failure has one cause: the first one tells most
    return None if error.__suppress_context__ else error.__context__


def _stack(error: BaseException) -> str:
    return _clean("".join(traceback.format_tb(error.__traceback__)))


def _text(value: object) -> str:
    try:
        return _clean(str(value))
    except Exception as problem:
        return f"{type(value).__name__} (its text cannot be had: __str__ raised {type(problem).__name__})"


def _clean(text: str) -> str:
    """Text that UTF-8 can carry: lone surrogates are written as escapes."""
    return text.encode(errors="backslashreplace").decode()


def _said(error: BaseException, name: str) -> Any:
    """What the error says of itself under the name, by attribute or by method; None if it says nothing."""
    try:
        said = getattr(error, name, None)
        return said() if callable(said) else said
    except Exception:
        return None


def _write_activity(node: Failure, error: ActivityError) -> None:
    info = node.activity_failure_info
    info.scheduled_event_id = error.scheduled_event_id
    info.started_event_id = error.started_event_id
    info.identity = error.identity
    info.activity_type = error.activity_type
    info.activity_id = error.activity_id
    info.retry_state = int(error.retry_state or 0)  # type: ignore[assignment]


def _read_activity(failure: Failure) -> ActivityError:
    info = failure.activity_failure_info
    return ActivityError(
        failure.message,
        scheduled_event_id=info.scheduled_event_id,
        started_event_id=info.started_event_id,
        identity=info.identity,
        activity_type=info.activity_type,
        activity_id=info.activity_id,
        retry_state=_known(RetryState, info.retry_state),
        failure=failure,
    )


def _known(kind: type[E], number: int) -> E | None:
    """The enum's member; None for "unspecified" and for numbers that a newer server may send."""
    return next((member for member in kind if member == number and number), None)

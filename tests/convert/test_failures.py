"""Errors to failures and back."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from towline.api.common_pb2 import Payload
from towline.api.failure_pb2 import Failure
from towline.convert import DataConverter
from towline.convert.bounds import CHAIN_LIMIT, FAILURE_LIMIT_BYTES, MESSAGE_LIMIT_BYTES, STACK_LIMIT_BYTES, cut
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
    is_cancelled_exception,
)

FAILURES = DataConverter.default.failures


def _raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:
        return caught


def _back(error: BaseException) -> Any:
    return FAILURES.from_failure(Failure.FromString(FAILURES.to_failure(error).SerializeToString()))


def test_any_exception_becomes_an_application_failure_of_its_class_name() -> None:
    failure = FAILURES.to_failure(_raised(KeyError("purse")))
    assert (failure.message, failure.source) == ("'purse'", "towline-python")
    assert failure.application_failure_info.type == "KeyError"
    assert not failure.application_failure_info.non_retryable
    assert "in _raised" in failure.stack_trace


class Refused(Exception):
    """Says of itself what it is, by attributes."""

    non_retryable = True
    failure_type = "CardRefused"


class Fatal(Exception):
    """Says of itself what it is, by methods."""

    def non_retryable(self) -> bool:
        return True

    def failure_type(self) -> str:
        return "Fatal.v2"


class Moody(Exception):
    """Nothing about it can be had."""

    @property
    def non_retryable(self) -> bool:
        raise ValueError("not today")

    def __str__(self) -> str:
        raise ValueError("not today")


@pytest.mark.parametrize(
    ("error", "error_type", "non_retryable"),
    [(Refused(), "CardRefused", True), (Fatal(), "Fatal.v2", True), (Moody(), "Moody", False)],
)
def test_an_error_may_say_itself_what_it_is(error: BaseException, error_type: str, non_retryable: bool) -> None:
    info = FAILURES.to_failure(error).application_failure_info
    assert (info.type, info.non_retryable) == (error_type, non_retryable)


def test_an_error_without_a_text_is_written_all_the_same() -> None:
    assert "its text cannot be had: __str__ raised ValueError" in FAILURES.to_failure(Moody()).message


def test_text_that_is_no_unicode_is_written_all_the_same() -> None:
    assert FAILURES.to_failure(ValueError("bad \ud800 name")).message == "bad \\ud800 name"


class Broke(ApplicationError): ...


def test_application_errors_come_back_whole() -> None:
    error = _back(
        ApplicationError(
            "no", 1, {"a": None}, type="T", non_retryable=True, next_retry_delay=timedelta(seconds=1, microseconds=999)
        )
    )
    assert isinstance(error, ApplicationError)
    assert (error.message, error.type, list(error.details)) == ("no", "T", [1, {"a": None}])
    assert (error.non_retryable, error.next_retry_delay) == (True, timedelta(seconds=1))
    assert str(error) == "T: no"


def test_the_type_of_a_subclass_is_its_name_unless_it_says_otherwise() -> None:
    assert _back(Broke("no")).type == "Broke"
    assert _back(Broke("no", type="Other")).type == "Other"
    assert _back(ApplicationError("no")).type is None


def test_other_failures_come_back_as_their_class() -> None:
    timeout = _back(TimeoutError("late", type=TimeoutType.HEARTBEAT, last_heartbeat_details=[3]))
    assert isinstance(timeout, TimeoutError)
    assert (timeout.message, timeout.type, timeout.last_heartbeat_details) == ("late", TimeoutType.HEARTBEAT, [3])
    cancelled = _back(CancelledError("stop", "why"))
    assert isinstance(cancelled, CancelledError)
    assert list(cancelled.details) == ["why"]
    assert isinstance(_back(asyncio.CancelledError()), CancelledError)
    assert isinstance(_back(TerminatedError("gone")), TerminatedError)
    server = _back(ServerError("broken", non_retryable=True))
    assert isinstance(server, ServerError)
    assert server.non_retryable
    assert type(_back_of(Failure(message="plain"))) is FailureError


def _back_of(failure: Failure) -> FailureError:
    return FAILURES.from_failure(failure)


def test_activity_errors_come_back_with_ids_and_retry_state() -> None:
    error = ActivityError(
        "failed",
        scheduled_event_id=5,
        started_event_id=6,
        identity="w",
        activity_type="A",
        activity_id="1",
        retry_state=RetryState.TIMEOUT,
    )
    error.__cause__ = CancelledError()
    back = _back(error)
    assert isinstance(back, ActivityError)
    assert (back.scheduled_event_id, back.started_event_id, back.identity) == (5, 6, "w")
    assert (back.activity_type, back.activity_id, back.retry_state) == ("A", "1", RetryState.TIMEOUT)
    assert is_cancelled_exception(back)
    assert not is_cancelled_exception(ActivityError("failed"))


def test_a_number_that_a_newer_server_sends_is_not_stumbled_over() -> None:
    failure = Failure()
    failure.activity_failure_info.retry_state = 99  # type: ignore[assignment]
    error = FAILURES.from_failure(failure)
    assert isinstance(error, ActivityError)
    assert error.retry_state is None


def _chain(error: BaseException | None) -> list[str]:
    found = []
    while error is not None:
        assert isinstance(error, FailureError)
        found.append(error.message)
        error = error.cause
    return found


def test_the_cause_is_kept_else_the_context_unless_that_is_suppressed() -> None:
    def fail(how: str) -> None:
        try:
            raise ValueError("inner")
        except ValueError as inner:
            match how:
                case "from":
                    raise ApplicationError("outer") from OSError("named")
                case "within":
                    raise ApplicationError("outer") from inner
                case "during":
                    raise ApplicationError("outer")  # noqa: B904
                case _:
                    raise ApplicationError("outer") from None

    seen = {}
    for how in ("from", "within", "during", "alone"):
        with pytest.raises(ApplicationError) as caught:
            fail(how)
        seen[how] = _chain(_back(caught.value))
    assert seen == {
        "from": ["outer", "named"],
        "within": ["outer", "inner"],
        "during": ["outer", "inner"],
        "alone": ["outer"],
    }


def test_a_circle_of_causes_ends() -> None:
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    assert _chain(_back(first)) == ["first", "second"]


def test_a_group_is_written_with_its_first_error() -> None:
    group = ExceptionGroup("several", [ApplicationError("first"), ValueError("second")])
    assert _chain(_back(group)) == ["several (2 sub-exceptions)", "first"]


def test_a_failure_from_history_is_passed_on_as_it_is() -> None:
    failure = Failure(message="no", source="another-sdk", stack_trace="at main()")
    failure.application_failure_info.type = "Broke"
    failure.cause.message = "deeper"
    error = FAILURES.from_failure(failure)
    assert FAILURES.to_failure(_raised(error)) == failure


def test_a_long_chain_loses_its_end_with_a_note() -> None:
    error = ValueError("0")
    for number in range(1, CHAIN_LIMIT + 5):
        outer = ValueError(str(number))
        outer.__cause__ = error
        error = outer
    chain = _chain(_back(error))
    assert len(chain) == CHAIN_LIMIT
    assert chain[0] == str(CHAIN_LIMIT + 4)
    assert chain[-1] == "5 (its further causes were left out)"


def test_a_deep_stack_and_a_long_message_lose_their_middles() -> None:
    def dive(depth: int) -> None:
        if depth:
            dive_again(depth - 1)
        raise ValueError("a" * 10**6 + "z")

    def dive_again(depth: int) -> None:
        dive(depth)

    with pytest.raises(ValueError, match="a") as caught:
        dive(400)
    failure = FAILURES.to_failure(caught.value)
    assert len(failure.message.encode()) <= MESSAGE_LIMIT_BYTES
    assert failure.message.startswith("aaa")
    assert failure.message.endswith("aaz")
    assert "1000001 bytes in all, the middle was left out" in failure.message
    assert len(failure.stack_trace.encode()) <= STACK_LIMIT_BYTES
    assert "in dive" in failure.stack_trace[-200:]


def test_details_that_cannot_be_written_are_written_as_text() -> None:
    error = _back(ApplicationError("no", object(), 1))
    assert "<object object at" in error.details[0]
    assert error.details[1] == "1"


def test_details_that_cannot_be_read_are_given_as_payloads() -> None:
    failure = FAILURES.to_failure(ApplicationError("no", 1))
    payload = Payload(metadata={"encoding": b"binary/unknown"}, data=b"x")
    failure.application_failure_info.details.payloads[0].CopyFrom(payload)
    error = FAILURES.from_failure(failure)
    assert isinstance(error, ApplicationError)
    assert list(error.details) == [payload]


def test_details_that_are_too_large_are_left_out_with_a_note() -> None:
    failure = FAILURES.to_failure(ApplicationError("no", "x" * FAILURE_LIMIT_BYTES))
    assert failure.ByteSize() < FAILURE_LIMIT_BYTES
    error = FAILURES.from_failure(failure)
    assert isinstance(error, ApplicationError)
    assert "bytes of details were left out: a failure is at most" in error.details[0]


@given(
    links=st.lists(
        st.tuples(st.sampled_from(["€", "a", "\ud800"]), st.integers(0, 200_000), st.integers(0, 3_000_000)),
        min_size=1,
        max_size=20,
    )
)
@settings(max_examples=40, deadline=None)
def test_any_failure_fits(links: list[tuple[str, int, int]]) -> None:
    error: BaseException | None = None
    for letter, length, details in links:
        outer = ApplicationError(letter * length, b"x" * details, type=letter * length)
        outer.__cause__ = error
        error = outer
    assert error is not None
    assert FAILURES.to_failure(error).ByteSize() <= FAILURE_LIMIT_BYTES


@given(st.text(), st.integers(120, 400))
def test_cut_text_keeps_both_ends(text: str, limit: int) -> None:
    long = text + "m" * 1000 + text
    short = cut(long, limit)
    assert len(short.encode()) <= limit
    assert short[:5] == long[:5]
    assert short[-5:] == long[-5:]
    assert cut(text[:20], limit) == text[:20]


def test_an_application_error_shows_its_type() -> None:
    assert repr(ApplicationError("no money")) == "ApplicationError('no money')"
    declined = ApplicationError("no money", 3, type="CardDeclined", non_retryable=True)
    assert repr(declined) == "ApplicationError('no money', 3, type='CardDeclined', non_retryable=True)"

"""Times, sizes, failures and arguments in words."""

from datetime import UTC

import pytest

from tests.cli.sample_history import activity_failure, application_failure, payloads, timeout
from towline.api.common_pb2 import Payload
from towline.api.failure_pb2 import Failure
from towline.cli.errors import CliError
from towline.cli.failures import headline, story
from towline.cli.moments import day_and_time, span, time_of_day
from towline.cli.text import one_line, shorten, size
from towline.cli.values import brief, brief_arguments, parse_arguments


@pytest.mark.parametrize(
    ("duration_ms", "words"),
    [
        (-5, "0 ms"),
        (0, "0 ms"),
        (999, "999 ms"),
        (1_000, "1 s"),
        (1_234, "1.23 s"),
        (59_940, "59.9 s"),
        (60_000, "1 min"),
        (3_599_000, "59 min 59 s"),
        (3_600_000, "1 h"),
        (86_400_000, "1 d"),
        (90_000_000_000, "1041 d 16 h"),
    ],
)
def test_spans(duration_ms: int, words: str) -> None:
    assert span(duration_ms) == words


def test_moments() -> None:
    assert day_and_time(1_772_373_785_007, UTC) == "2026-03-01 14:03:05"
    assert time_of_day(1_772_373_785_007, UTC) == "14:03:05.007"


def test_sizes() -> None:
    assert [size(n) for n in (0, 1023, 1024, 3 * 1024**2, 5 * 1024**4)] == [
        "0 B", "1023 B", "1.0 KiB", "3.0 MiB", "5.0 TiB",
    ]  # fmt: skip


def test_short_lines() -> None:
    assert one_line(" a\n  b\t c ") == "a b c"
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcdefg", 6) == "abcde…"


def test_failures() -> None:
    failure = activity_failure(application_failure("card\ndeclined", type="CardError"))
    assert story(failure, 80) == ["activity charge (2) failed", "caused by CardError: card declined"]
    assert headline(timeout()) == "timed out (start_to_close): activity upper took longer than 10 s"
    assert headline(Failure(message="odd")) == "odd"
    assert headline(Failure()) == "failed"


def test_a_failure_says_nothing_twice() -> None:
    fault = "args[0]: expected int"
    chain = application_failure(f"not taken: {fault}", type="TowlineError")
    chain.cause.CopyFrom(application_failure(fault, type="DecodeError"))
    chain.cause.cause.CopyFrom(application_failure("expected int", type="ValidationError"))
    chain.cause.cause.cause.CopyFrom(application_failure("expected int", type="ValidationError"))
    chain.cause.cause.cause.cause.CopyFrom(application_failure("int", type="KeyError"))
    assert story(chain) == [
        "TowlineError: not taken: args[0]: expected int",
        "caused by DecodeError",
        "caused by ValidationError",
        "caused by KeyError: int",
    ]
    lonely = activity_failure(application_failure("card declined", type="CardError"))
    lonely.ClearField("cause")
    assert story(lonely) == ["activity charge (2): activity failed"]


def test_values() -> None:
    assert brief_arguments(payloads("hi", 3, None), 40) == '"hi", 3, null'
    assert brief_arguments(payloads("x" * 50, "short", "y" * 50), 40) == '"xxxxxxxxxxxx…, "short", "yyyyyyyyyyyyy…'
    assert brief_arguments(payloads(*range(50)), 40) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, … (50 in all)"
    assert brief_arguments(payloads(), 40) == ""
    assert brief(Payload(metadata={"encoding": b"binary/null"}), 10) == "null"
    assert brief(Payload(metadata={"encoding": b"binary/plain"}, data=b"x" * 2048), 40) == "<2.0 KiB binary/plain>"
    assert brief(Payload(data=b"xy"), 40) == "<2 B without encoding>"


def test_arguments() -> None:
    assert parse_arguments(['"hi"', "3", "null", '{"a": [1]}']) == ["hi", 3, None, {"a": [1]}]
    with pytest.raises(CliError, match=r"--input 2 is not JSON: hi .* a string needs its quotes"):
        parse_arguments(["1", "hi"])

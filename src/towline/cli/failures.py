"""Failures on one line each, from what went wrong down to why."""

from collections.abc import Iterable, Iterator
from typing import Final

from towline.api.common_pb2 import TimeoutType
from towline.api.failure_pb2 import Failure
from towline.cli.text import one_line, shorten

# A message says at its end what to do, so it is cut late.
_WIDTH: Final = 500


def headline(failure: Failure) -> str:
    """`ValueError: no such row`: what kind of failure and its message, without its causes."""
    kind, message = _kind(failure), one_line(failure.message)
    if failure.WhichOneof("failure_info") == "activity_failure_info" and failure.HasField("cause"):
        return f"{kind} failed"  # its message says which activity failed, the cause says how
    if not message:
        return kind or "failed"
    return f"{kind}: {message}" if kind else message


def chain(failure: Failure) -> Iterator[Failure]:
    """The failure, its cause, the cause of that, and so on."""
    while True:
        yield failure
        if not failure.HasField("cause"):
            return
        failure = failure.cause


def story(failure: Failure, width: int = _WIDTH) -> list[str]:
    """The whole chain, one line of at most `width` characters for each failure; no text stands there twice."""
    first, *causes = _without_repeats(chain(failure))
    return [shorten(first, width), *(shorten(f"caused by {cause}", width) for cause in causes)]


def _without_repeats(links: Iterable[Failure]) -> list[str]:
    lines: list[str] = []
    said: list[str] = []
    for link in links:
        line, message = headline(link), one_line(link.message)
        if message and any(earlier == message or earlier.endswith(f": {message}") for earlier in said):
            line = _kind(link)  # its message is a part of an earlier one, as in `raise X(f"no price: {error}")`
        said.append(message)
        if line and line not in lines:
            lines.append(line)
    return lines


def _kind(failure: Failure) -> str:
    match failure.WhichOneof("failure_info"):
        case "application_failure_info":
            return one_line(failure.application_failure_info.type)
        case "timeout_failure_info":
            limit = TimeoutType.Name(failure.timeout_failure_info.timeout_type)
            return "timed out (" + limit.removeprefix("TIMEOUT_TYPE_").lower() + ")"
        case "canceled_failure_info":
            return "cancelled"
        case "terminated_failure_info":
            return "terminated"
        case "server_failure_info":
            return "server failure"
        case "activity_failure_info":
            info = failure.activity_failure_info
            return f"activity {one_line(info.activity_type)} ({one_line(info.activity_id)})"
        case _:
            return ""

"""Failures on one line each, from what went wrong down to why."""

from collections.abc import Iterator
from typing import Final

from towline.api.common_pb2 import TimeoutType
from towline.api.failure_pb2 import Failure
from towline.cli.text import one_line, shorten

# A message says at its end what to do, so it is cut late.
_WIDTH: Final = 500


def headline(failure: Failure) -> str:
    """`ValueError: no such row`: what kind of failure and its message, without its causes."""
    kind, message = _kind(failure), one_line(failure.message)
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


def root(failure: Failure) -> Failure:
    """The last of the chain, which is what somebody has to repair."""
    *_, last = chain(failure)
    return last


def story(failure: Failure, width: int = _WIDTH) -> list[str]:
    """The whole chain, one line of at most `width` characters for each failure."""
    first, *causes = (headline(link) for link in chain(failure))
    return [shorten(first, width), *(shorten(f"caused by {cause}", width) for cause in causes)]


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

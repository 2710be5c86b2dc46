"""Checks of what a request brings. Each raises Refused (INVALID_ARGUMENT) with a message that names the thing."""

from towline.api.common_pb2 import Payloads
from towline.api.failure_pb2 import Failure
from towline.core.refusal import invalid
from towline.limits import (
    DURATION_LIMIT_MS,
    FAILURE_DEPTH,
    ID_SIZE_BYTES,
    KIB,
    MIB,
    PAYLOAD_METADATA_SIZE_BYTES,
    PAYLOAD_SIZE_BYTES,
)

# No character takes more bytes than this in UTF-8.
_UTF8_CHARACTER_BYTES = 4


def check_id(value: str, what: str) -> None:
    """1 to 1,000 bytes of UTF-8."""
    if not value:
        raise invalid(f"{what} is empty: give it 1 to {ID_SIZE_BYTES:,} bytes")
    check_optional_id(value, what)


def check_optional_id(value: str, what: str) -> None:
    """At most 1,000 bytes of UTF-8."""
    if len(value) * _UTF8_CHARACTER_BYTES <= ID_SIZE_BYTES:
        return
    size = len(value.encode())
    if size > ID_SIZE_BYTES:
        raise invalid(
            f"{what} {value[:40]!r}... is {size:,} bytes, the limit is {ID_SIZE_BYTES:,}: choose a shorter one"
        )


def check_duration(duration_ms: int, what: str, *, limit_ms: int = DURATION_LIMIT_MS) -> None:
    """0 or more; 0 stands for a default, or for no limit."""
    if duration_ms < 0:
        raise invalid(f"{what} is {duration_ms:,}: it must not be negative")
    if duration_ms > limit_ms:
        raise invalid(f"{what} is {duration_ms:,}, the limit is {limit_ms:,}: choose a shorter time")


def payloads_size_bytes(payloads: Payloads) -> int:
    """The size that the payload limit is about: the data of all payloads together."""
    return sum(len(payload.data) for payload in payloads.payloads)


def check_payloads(payloads: Payloads, what: str, *, advice: str) -> None:
    """At most 2 MiB of data. `what` says whose it is, `advice` what to do instead."""
    # The encoded size is never smaller, and it is there without copying the data out.
    encoded_bytes = payloads.ByteSize()
    if encoded_bytes <= PAYLOAD_METADATA_SIZE_BYTES:
        return
    data_bytes = payloads_size_bytes(payloads)
    check_size(data_bytes, what, advice=advice)
    check_size(
        encoded_bytes - data_bytes,
        f"metadata of {what}",
        limit_bytes=PAYLOAD_METADATA_SIZE_BYTES,
        advice="send fewer values with shorter metadata",
    )


def check_failure(failure: Failure, what: str) -> None:
    """At most 2 MiB, encoded, and a chain of at most 32 failures. `what` says whose it is."""
    depth = failure_depth(failure)
    if depth > FAILURE_DEPTH:
        raise invalid(f"{what} nests {depth} deep, the limit is {FAILURE_DEPTH}: leave out its innermost causes")
    check_size(failure.ByteSize(), what, advice="shorten its message, stack and details")


def failure_depth(failure: Failure) -> int:
    """How many failures there are in the chain: 1 for one without a cause."""
    depth = 1
    while failure.HasField("cause"):
        failure = failure.cause
        depth += 1
    return depth


def check_size(size_bytes: int, what: str, *, advice: str, limit_bytes: int = PAYLOAD_SIZE_BYTES) -> None:
    """At most `limit_bytes`. `what` says whose it is, `advice` what to do instead."""
    if size_bytes <= limit_bytes:
        return
    size, limit = format_bytes(size_bytes), format_bytes(limit_bytes)
    if size == limit:
        size, limit = f"{size_bytes:,} bytes", f"{limit_bytes:,} bytes ({limit})"
    raise invalid(f"{what} is {size}, the limit is {limit}: {advice}")


def format_bytes(size_bytes: int) -> str:
    """For people: "3.1 MiB", "2 MiB", "17 KiB", "9 bytes"."""
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if size_bytes >= unit:
            return f"{size_bytes / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{size_bytes} bytes"


def format_ms(duration_ms: int) -> str:
    """For people: "10 s", "1.5 s", "250 ms"."""
    return f"{duration_ms / 1000:g} s" if duration_ms >= 1000 else f"{duration_ms} ms"

"""Checks of what a request brings. Each raises Refused (INVALID_ARGUMENT) with a message that names the thing."""

from towline.api.common_pb2 import Payloads
from towline.core.refusal import Refused, invalid
from towline.limits import ID_SIZE_BYTES, KIB, MIB, PAYLOAD_SIZE_BYTES

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


def check_not_negative(value: float, what: str) -> None:
    """0 or more; 0 stands for a default."""
    if value < 0:
        raise invalid(f"{what} is {value:,}: it must not be negative")


def payloads_size_bytes(payloads: Payloads) -> int:
    """The size that the payload limit is about: the data of all payloads together."""
    return sum(len(payload.data) for payload in payloads.payloads)


def check_payloads(payloads: Payloads, what: str, *, advice: str) -> None:
    """At most 2 MiB. `what` says whose it is, `advice` what to do instead."""
    # The encoded size is never smaller, and it is there without copying the data out.
    if payloads.ByteSize() <= PAYLOAD_SIZE_BYTES:
        return
    size = payloads_size_bytes(payloads)
    if size > PAYLOAD_SIZE_BYTES:
        raise too_large(what, size, advice)


def check_size(size_bytes: int, what: str, *, advice: str) -> None:
    """At most 2 MiB, for what is no plain payload."""
    if size_bytes > PAYLOAD_SIZE_BYTES:
        raise too_large(what, size_bytes, advice)


def too_large(what: str, size_bytes: int, advice: str) -> Refused:
    """The refusal of something over the payload limit."""
    limit = format_bytes(PAYLOAD_SIZE_BYTES)
    size = format_bytes(size_bytes)
    if size == limit:
        size, limit = f"{size_bytes:,} bytes", f"{PAYLOAD_SIZE_BYTES:,} bytes ({limit})"
    return invalid(f"{what} is {size}, the limit is {limit}: {advice}")


def format_bytes(size_bytes: int) -> str:
    """For people: "3.1 MiB", "2 MiB", "17 KiB", "9 bytes"."""
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if size_bytes >= unit:
            return f"{size_bytes / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{size_bytes} bytes"


def format_ms(duration_ms: int) -> str:
    """For people: "10 s", "1.5 s", "250 ms"."""
    return f"{duration_ms / 1000:g} s" if duration_ms >= 1000 else f"{duration_ms} ms"

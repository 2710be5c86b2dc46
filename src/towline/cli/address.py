"""Where a server listens, as users write it."""

from ipaddress import AddressValueError, IPv6Address
from typing import Final

from towline.cli.errors import UsageError

_LAST_PORT: Final = 65_535


def check_address(address: str) -> None:
    """Raises UsageError unless it is `host:port`, with an IPv6 host in brackets. gRPC would guess what is missing."""
    host, colon, port = address.rpartition(":")
    if not colon or not host:
        raise _wrong(address, "is not of the form host:port")
    if host.startswith("[") != host.endswith("]") or (":" in host and not _is_ipv6(host)):
        raise _wrong(address, "has no host that can be told from its port")
    if not (port.isascii() and port.isdigit()):
        raise _wrong(address, "has no number for a port")
    if int(port) > _LAST_PORT:
        raise _wrong(address, f"has a port above {_LAST_PORT}")


def _is_ipv6(host: str) -> bool:
    try:
        IPv6Address(host.removeprefix("[").removesuffix("]"))
    except AddressValueError:
        return False
    return host.startswith("[")


def _wrong(address: str, fault: str) -> UsageError:
    return UsageError(
        f"--address {address} {fault}: write host:port, as in 127.0.0.1:7470 or [::1]:7470; port 0 takes a free one"
    )

"""The limit that the server puts on payloads, checked where the value is still at hand."""

from towline.api.common_pb2 import Payloads
from towline.convert.errors import EncodeError
from towline.limits import MIB, PAYLOAD_SIZE_BYTES


def check_size(payloads: Payloads, what: str) -> Payloads:
    """Give the payloads back. Raises EncodeError, which calls them `what`, if their data passes the limit."""
    size = sum(len(payload.data) for payload in payloads.payloads)
    if size > PAYLOAD_SIZE_BYTES:
        raise EncodeError(
            f"{what} is {size / MIB:.1f} MiB ({size} bytes), the limit is {PAYLOAD_SIZE_BYTES // MIB} MiB: "
            "store it elsewhere and pass where it is"
        )
    return payloads

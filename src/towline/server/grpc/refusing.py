"""Refusals as gRPC has them."""

from typing import Any, Final, NoReturn
from urllib.parse import quote

import grpc.aio

from towline.core.refusal import Refused

# A status message travels in the trailers, percent-encoded; clients refuse trailers of more than 8 KiB.
STATUS_MESSAGE_SIZE_BYTES: Final = 7_000

_CODES: Final = {code.value[0]: code for code in grpc.StatusCode}


async def abort(context: grpc.aio.ServicerContext[Any, Any], refusal: Refused) -> NoReturn:
    """End the RPC with the refusal's status."""
    await context.abort(_CODES[refusal.status], shortened(refusal.message))


def shortened(message: str) -> str:
    """The message, or as much of its beginning as fits the trailers."""
    while len(quote(message)) > STATUS_MESSAGE_SIZE_BYTES:
        message = message[: len(message) * 3 // 4] + "…"
    return message

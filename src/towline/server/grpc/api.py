"""What the gRPC front needs of the server behind it."""

from typing import Any, Protocol

from google.protobuf.message import Message

from towline.rpc import Method
from towline.server.caller import Caller


class Services(Protocol):
    """The server, without a wire."""

    async def call(self, method: Method, request: Any, *, caller: Caller) -> Message | bytes:
        """Answer one call. `request` is a `method.request_type`; bytes are an encoded `method.response_type`.

        Raises Refused, whose status and message go to the caller. Anything else is INTERNAL to the caller, and logged.
        It is cancelled when the caller is gone, and undoes what only this caller could use. Where the caller goes after
        the return and before it has the answer, it is `caller` that says so.
        """

"""What the SDK needs of a wire."""

from typing import Any, Protocol

from google.protobuf.message import Message

from towline.exceptions import TowlineError
from towline.rpc import Method
from towline.status import Status


class RpcError(TowlineError):
    """The server said no, or could not be reached (UNAVAILABLE: try again)."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(f"{status.name}: {message}")
        self.status = status
        self.message = message


class ConnectionClosed(RpcError):
    """This end closed the connection, for good: whoever tries again needs another one."""

    def __init__(self) -> None:
        super().__init__(Status.FAILED_PRECONDITION, "the connection was closed: open a new one")


class Transport(Protocol):
    """A way to call the server. Used on one event loop only: see `client.connection.Connection`."""

    async def call(self, method: Method, request: Message, *, timeout_ms: int | None = None) -> Any:
        """Send `request`, give back the `method.response_type`.

        Raises RpcError; after `timeout_ms` with DEADLINE_EXCEEDED. Cancelling the call tells the server so.
        """

    async def close(self) -> None:
        """Let go of the wire; calls that run, and later ones, raise ConnectionClosed. May be called twice."""

"""Calls that outlive a restart of the server."""

from typing import Any, Final

from google.protobuf.message import Message

from towline import limits
from towline.client.connection import Connection
from towline.client.errors import NotFoundError
from towline.client.transport.api import RpcError
from towline.rpc import Method
from towline.status import Status

# The server did not do it, or cannot say: whoever may ask again, does.
TRANSIENT = frozenset({Status.UNAVAILABLE, Status.ABORTED})
# To connect, or to fail to, takes less than this: a try that lasted longer was one that a server had begun to answer.
_REACHED_MS: Final = limits.RECONNECT_MAXIMUM_MS


class RetryingCaller:
    """Calls on a connection, repeated while the server is away.

    Only for calls that may be repeated: reads, and those with a request id. The n-th repetition comes after
    100 ms · 2^(n-1), 5 s at most; `limits.RPC_RETRY_TIMEOUT_MS` after the first failure the last one is raised.
    Both begin anew once a try has reached a server: a long poll meets one restart after another, and outlives them.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def call(self, method: Method, request: Message, *, timeout_ms: int = limits.RPC_TIMEOUT_MS) -> Any:
        """As `Connection.call`; `timeout_ms` is each try's. Raises RpcError; NotFoundError."""
        clock = self._connection.clock
        delay_ms = limits.RECONNECT_INITIAL_MS
        give_up_at_ms = None
        while True:
            tried_at_ms = clock.now_ms()
            try:
                return await self.call_once(method, request, timeout_ms=timeout_ms)
            except RpcError as error:
                if clock.now_ms() - tried_at_ms > _REACHED_MS:
                    delay_ms, give_up_at_ms = limits.RECONNECT_INITIAL_MS, None
                give_up_at_ms = give_up_at_ms or clock.now_ms() + limits.RPC_RETRY_TIMEOUT_MS
                if error.status not in TRANSIENT or clock.now_ms() + delay_ms > give_up_at_ms:
                    raise
            await clock.sleep(delay_ms)
            delay_ms = min(delay_ms * 2, limits.RECONNECT_MAXIMUM_MS)

    async def call_once(self, method: Method, request: Message, *, timeout_ms: int = limits.RPC_TIMEOUT_MS) -> Any:
        """For a call that must not be repeated. Raises RpcError; NotFoundError."""
        try:
            return await self._connection.call(method, request, timeout_ms=timeout_ms)
        except RpcError as error:
            if error.status is Status.NOT_FOUND:
                raise NotFoundError(error.message) from None
            raise

"""One gRPC call for one call: the simple way, which every server understands."""

import asyncio
from typing import Any

import grpc.aio
from google.protobuf.message import Message

from towline.client.transport.api import ConnectionClosed
from towline.client.transport.errors import cancelled_by_caller, check_size, from_grpc
from towline.rpc import Method


class UnaryTransport:
    """Implements `Transport`. The time-outs are gRPC's own, so that the server knows of them."""

    def __init__(self, channel: grpc.aio.Channel, target: str) -> None:
        self._channel = channel
        self._target = target
        self._callables: dict[str, Any] = {}
        self._closed = False

    async def call(self, method: Method, request: Message, *, timeout_ms: int | None = None) -> Any:
        """See `Transport`."""
        data = request.SerializeToString()
        check_size(method, "request", len(data))
        return method.response_type.FromString(await self.send(method, data, timeout_ms=timeout_ms))

    async def send(self, method: Method, data: bytes, *, timeout_ms: int | None) -> bytes:
        """As `call`, with messages that are encoded already."""
        if self._closed:
            raise ConnectionClosed()
        try:
            response: bytes = await self._callable(method)(data, timeout=_seconds(timeout_ms))
        except grpc.aio.AioRpcError as error:
            if self._closed:
                raise ConnectionClosed from None
            raise from_grpc(error, self._target) from None
        except asyncio.CancelledError:
            if self._closed and not cancelled_by_caller():
                raise ConnectionClosed() from None
            raise
        return response

    async def close(self) -> None:
        """See `Transport`. Closes the channel too."""
        if not self._closed:
            self._closed = True
            await self._channel.close(None)

    def _callable(self, method: Method) -> Any:
        found = self._callables.get(method.path)
        if found is None:
            found = self._callables[method.path] = self._channel.unary_unary(method.path, None, None)
        return found


def _seconds(timeout_ms: int | None) -> float | None:
    return None if timeout_ms is None else timeout_ms / 1000

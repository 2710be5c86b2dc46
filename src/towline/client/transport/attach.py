"""Many calls on one stream: the fast way. What is called in one turn of the loop travels together."""

from typing import Any

import grpc.aio
from google.protobuf.message import Message

from towline.client.transport.api import ConnectionClosed
from towline.client.transport.attach_stream import AttachStream, NoAttach
from towline.client.transport.errors import check_size
from towline.client.transport.unary import UnaryTransport
from towline.clock import Clock
from towline.rpc import Method


class AttachTransport:
    """Implements `Transport` with one stream per service, opened by the first call that needs it, and more of them
    where one has as many calls out as a server runs at a time.

    When a stream breaks, its calls fail with UNAVAILABLE and the next call opens another. A server that has no Attach
    gets unary calls from then on.
    """

    def __init__(self, channel: grpc.aio.Channel, target: str, *, clock: Clock) -> None:
        self._channel = channel
        self._target = target
        self._clock = clock
        self._unary = UnaryTransport(channel, target)
        self._streams: dict[str, list[AttachStream]] = {}
        self._has_attach = True
        self._closed = False

    async def call(self, method: Method, request: Message, *, timeout_ms: int | None = None) -> Any:
        """See `Transport`."""
        data = request.SerializeToString()
        check_size(method, "request", len(data))
        return method.response_type.FromString(await self._send(method, data, timeout_ms))

    async def close(self) -> None:
        """See `Transport`. Closes the channel too."""
        self._closed = True
        for stream in [stream for streams in self._streams.values() for stream in streams]:
            await stream.close()
        await self._unary.close()

    async def _send(self, method: Method, data: bytes, timeout_ms: int | None) -> bytes:
        if self._closed:
            raise ConnectionClosed()
        if self._has_attach:
            try:
                return await self._stream(method.service).call(method, data, timeout_ms=timeout_ms)
            except NoAttach:
                self._has_attach = False
        return await self._unary.send(method, data, timeout_ms=timeout_ms)

    def _stream(self, service: str) -> AttachStream:
        streams = self._streams.setdefault(service, [])
        for stream in streams:
            if not stream.ended and not stream.is_full:
                return stream
        rpc = self._channel.stream_stream(f"/{service}/Attach", None, None)(None)
        opened = AttachStream(rpc, target=self._target, clock=self._clock)
        self._streams[service] = [*(stream for stream in streams if not stream.ended), opened]
        return opened

"""Services that do what a test tells them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import Message

from towline.rpc import Method
from towline.server.grpc.server import GrpcServer

Handler = Callable[[Any, Any], Awaitable[Message | bytes]]


@dataclass
class FakeServices:
    """Answers a method with its handler, which gets the request and the caller; else with an empty response."""

    handlers: dict[str, Handler] = field(default_factory=dict)
    requests: list[Any] = field(default_factory=list)

    async def call(self, method: Method, request: Any, *, caller: Any) -> Message | bytes:
        self.requests.append(request)
        handler = self.handlers.get(method.name)
        if handler is None:
            response: Message = method.response_type()
            return response
        return await handler(request, caller)


class WaitingPoll:
    """A handler that waits until it is answered, and tells what became of it."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.gone = asyncio.Event()
        self.answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self.deadline_ms: int | None = None

    async def __call__(self, _request: Any, caller: Any) -> Message:
        caller.on_gone(self.gone.set)
        self.deadline_ms = caller.deadline_ms
        self.entered.set()
        try:
            return await self.answer
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


@asynccontextmanager
async def serving(services: Any) -> AsyncIterator[str]:
    """A server on a port that the system chose; its address."""
    server = GrpcServer(services, address="127.0.0.1:0")
    port = await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(0)

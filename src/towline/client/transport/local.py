"""No wire: calls on services in the same process and on the same event loop."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Protocol

from google.protobuf.message import Message

from towline.client.transport.api import ConnectionClosed, RpcError
from towline.client.transport.errors import cancelled_by_caller, check_size, timed_out
from towline.clock import Clock, SystemClock
from towline.core.refusal import Refused
from towline.rpc import Method
from towline.status import Status


class LocalCaller:
    """This end of a call, as the services see it: time left, in milliseconds, and whether it went away."""

    def __init__(self, deadline_ms: int | None = None) -> None:
        self.deadline_ms = deadline_ms
        self._gone = False
        self._callbacks: list[Callable[[], None]] = []

    def on_gone(self, callback: Callable[[], None]) -> None:
        """Call back if the caller goes away before it has its answer; at once if it is gone."""
        if self._gone:
            callback()
        else:
            self._callbacks.append(callback)

    def gone(self) -> None:
        """The answer will not reach the caller. Only the first call counts."""
        callbacks, self._callbacks = self._callbacks, []
        self._gone = True
        for callback in callbacks:
            callback()


class LocalServices(Protocol):
    """A server without a wire."""

    def call(self, method: Method, request: Any, *, caller: Any) -> Coroutine[Any, Any, Message | bytes]:
        """Answer with a `method.response_type`, as a message or encoded. Raises Refused.

        Any other exception is INTERNAL to the caller; services that can be UNAVAILABLE say so with Refused.
        """


class LocalTransport:
    """Implements `Transport`. Messages are copied on the way, so that nobody shares one with the other side."""

    def __init__(self, services: LocalServices, *, clock: Clock | None = None) -> None:
        self._services = services
        self._clock = clock or SystemClock()
        self._running: dict[asyncio.Task[bytes], RpcError | None] = {}  # and why it was ended from this end
        self._closed = False

    async def call(self, method: Method, request: Message, *, timeout_ms: int | None = None) -> Any:
        """See `Transport`."""
        if self._closed:
            raise ConnectionClosed()
        data = request.SerializeToString()
        check_size(method, "request", len(data))
        return method.response_type.FromString(await self._send(method, data, timeout_ms))

    async def close(self) -> None:
        """See `Transport`. The services live on."""
        self._closed = True
        for task in list(self._running):
            self._end(task, ConnectionClosed())

    async def _send(self, method: Method, data: bytes, timeout_ms: int | None) -> bytes:
        caller = LocalCaller(timeout_ms)
        task = asyncio.get_running_loop().create_task(self._answer(method, data, caller))
        self._running[task] = None
        if timeout_ms is None:
            timer = None
        else:
            error = timed_out(method.name, timeout_ms)
            timer = self._clock.call_later(timeout_ms, partial(self._end, task, error))
        try:
            return await task
        except asyncio.CancelledError:
            caller.gone()
            reason = self._running[task]
            if reason is not None and not cancelled_by_caller():
                raise reason from None
            raise
        finally:
            del self._running[task]
            if timer is not None:
                timer.cancel()

    async def _answer(self, method: Method, data: bytes, caller: LocalCaller) -> bytes:
        try:
            response = await self._services.call(method, method.request_type.FromString(data), caller=caller)
            encoded = response if isinstance(response, bytes) else response.SerializeToString()
            check_size(method, "response", len(encoded))
        except Refused as refusal:
            caller.gone()
            raise RpcError(refusal.status, refusal.message) from None
        except RpcError:
            caller.gone()
            raise
        except Exception as error:
            caller.gone()
            raise RpcError(Status.INTERNAL, f"{method.name} failed ({type(error).__name__}: {error})") from error
        return encoded

    def _end(self, task: "asyncio.Task[bytes]", reason: RpcError) -> None:
        if task in self._running:
            self._running[task] = reason
            task.cancel()

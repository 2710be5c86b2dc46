"""One gRPC service, built from the table of its methods."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeAlias

import grpc.aio
from google.protobuf.message import DecodeError

from towline.api.stream_pb2 import AttachRequest
from towline.core.refusal import Refused, invalid
from towline.rpc import Method
from towline.server.caller import Caller
from towline.server.grpc.answering import Answering
from towline.server.grpc.attached import AttachedStream, unknown_method
from towline.server.grpc.refusing import abort

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
END_OF_STREAM: Final = grpc.aio.EOF  # type: ignore[attr-defined]  # missing in the stubs

UnaryHandler: TypeAlias = Callable[[bytes, Context], Awaitable[None]]


class ServiceHandler(grpc.GenericRpcHandler):  # type: ignore[type-arg]  # at run time it is not generic
    """Every unary method of the service, and `Attach`. Messages pass gRPC as bytes."""

    def __init__(self, service: str, methods: Mapping[str, Method], answering: Answering) -> None:
        self._service = service
        self._methods = methods
        self._answering = answering
        self._streams: set[AttachedStream] = set()
        self._draining = False
        self._handlers = {method.path: _unary(self._unary_handler(method)) for method in methods.values()}
        self._handlers[f"/{service}/Attach"] = grpc.stream_stream_rpc_method_handler(self._attach)

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        """The handler of a path; None: not a path of this service."""
        path: str = handler_call_details.method
        if handler := self._handlers.get(path):
            return handler
        service, _, name = path.removeprefix("/").rpartition("/")
        return _unary(self._unknown_handler(name)) if service == self._service else None

    def drain(self) -> None:
        """Begin no new calls, and end every stream as soon as its calls are answered."""
        self._draining = True
        for stream in self._streams:
            stream.drain()

    def _unary_handler(self, method: Method) -> UnaryHandler:
        async def handle(request: bytes, context: Context) -> None:
            remaining_s = context.time_remaining()
            caller = Caller(None if remaining_s is None else int(remaining_s * 1000))
            try:
                response = await self._answering.answer(method, request, caller=caller)
            except Refused as refusal:
                await abort(context, refusal)
            try:
                await context.write(response)
            except BaseException:
                caller.gone()
                raise

        return handle

    def _unknown_handler(self, name: str) -> UnaryHandler:
        async def handle(_request: bytes, context: Context) -> None:
            await abort(context, unknown_method(self._service, name))

        return handle

    async def _attach(self, _requests: object, context: Context) -> None:
        stream = AttachedStream(self._service, self._methods, self._answering)
        if self._draining:
            stream.drain()
        self._streams.add(stream)
        reading = asyncio.get_running_loop().create_task(_read(stream, context))
        try:
            await stream.write_replies(context.write)
        finally:
            self._streams.discard(stream)
            reading.cancel()
            stream.abandon()
        if reading.done() and not reading.cancelled() and (refusal := reading.result()):
            await abort(context, refusal)


async def _read(stream: AttachedStream, context: Context) -> Refused | None:
    """Feed the stream until its client ends it, which abandons it; gives back why it had to be ended from here."""
    try:
        while (frame := await context.read()) is not END_OF_STREAM:
            stream.receive(AttachRequest.FromString(frame))
            await stream.room()
    except Refused as refusal:
        return refusal
    except DecodeError:
        return invalid("the client sent no AttachRequest: check its version of the contract")
    finally:
        stream.abandon()
    return None


def _unary(handler: UnaryHandler) -> Any:
    # To gRPC it is a method that streams one response: only so it tells whether the response could be sent.
    return grpc.unary_stream_rpc_method_handler(handler)

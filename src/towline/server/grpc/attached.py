"""One Attach stream: many calls of one service at a time. Without gRPC: it is given frames and a way to write them."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from towline import limits
from towline.api.stream_pb2 import AttachRequest, AttachResponse, Call, Reply
from towline.core.refusal import Refused, invalid
from towline.frames import PIECE_OVERHEAD_BYTES, FrameQueue
from towline.rpc import Method
from towline.server.caller import Caller
from towline.server.grpc.answering import Answering
from towline.server.grpc.load import Load, size_to_come_bytes
from towline.status import Status


class AttachedStream:
    """Runs each call as a task of its own; a reply that is ready waits at most for the write before it.

    A call's id is in exactly one place: `_waiting` until the stream has room for it, `_running` until its answer is
    ready, then `_unwritten` until that was written. Whoever leaves (a cancel frame, the end of the stream) is found in
    one of them, and its caller is told.

    A client that does not read its replies, or has very many calls out, makes its next calls wait: see `Load`. Frames
    are read on meanwhile, since they may cancel calls, until `limits.ATTACH_WAITING_SIZE_BYTES` of calls wait. Then
    `room` holds the reader up. That ends too: replies by being read, calls by their own time-outs.
    """

    def __init__(self, service: str, methods: Mapping[str, Method], answering: Answering) -> None:
        self._service = service
        self._methods = methods
        self._answering = answering
        self._waiting: OrderedDict[int, Call] = OrderedDict()
        self._waiting_bytes = 0
        self._running: dict[int, asyncio.Task[None]] = {}
        self._unwritten: dict[int, Caller] = {}
        self._load = Load()
        self._replies: FrameQueue[Reply] = FrameQueue()
        self._reader: asyncio.Future[None] | None = None
        self._draining = False

    def receive(self, frame: AttachRequest) -> None:
        """Take in the frame's calls and cancel what it cancels. Raises Refused: the stream is not usable any more."""
        for call in frame.calls:
            if call.cancel:
                self._cancel(call.id)
            else:
                self._take_in(call)
        self._begin_calls()

    async def room(self) -> None:
        """Wait until the next frame may be read."""
        while self._waiting_bytes > limits.ATTACH_WAITING_SIZE_BYTES:
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader

    async def write_replies(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        """Write what is ready, until the stream has been drained and is empty."""
        while (replies := await self._replies.take()) is not None:
            await write(AttachResponse(replies=replies).SerializeToString())
            for reply in replies:
                self._unwritten.pop(reply.id, None)
                self._load.let_go(reply.id)
            self._begin_calls()

    def drain(self) -> None:
        """Refuse new calls; once those that run are answered, `write_replies` ends."""
        self._draining = True
        self._begin_calls()
        self._end_if_drained()

    def abandon(self) -> None:
        """The other end is gone: cancel what runs, and tell the callers whose answers were not written."""
        self._waiting.clear()
        for task in self._running.values():
            task.cancel()
        for caller in self._unwritten.values():
            caller.gone()
        self._unwritten.clear()
        self._replies.end()

    def _take_in(self, call: Call) -> None:
        if call.id in self._waiting or call.id in self._running or call.id in self._unwritten:
            raise invalid(f"call id {call.id} is in use on this stream: give each call an id of its own")
        self._waiting[call.id] = call
        self._waiting_bytes += _size_bytes(call)

    def _begin_calls(self) -> None:
        """Begin those that wait, the oldest first, as far as there is room. Who drains has room for refusals."""
        while self._waiting and (self._draining or not self._load.is_full):
            _, call = self._waiting.popitem(last=False)
            self._leave_waiting(call)
            try:
                self._begin(call)
            except Refused as refusal:
                self._refuse(call.id, Caller(), refusal)

    def _leave_waiting(self, call: Call) -> None:
        self._waiting_bytes -= _size_bytes(call)
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def _begin(self, call: Call) -> None:
        method = self._methods.get(call.method)
        if self._draining:
            raise Refused(Status.UNAVAILABLE, "the server is shutting down: try again on a new connection")
        if method is None:
            raise unknown_method(self._service, call.method)
        caller = Caller(call.timeout_ms if call.timeout_ms > 0 else None)
        task = asyncio.get_running_loop().create_task(self._run(call.id, method, call.request, caller))
        self._running[call.id] = task
        self._load.hold(call.id, len(call.request) + size_to_come_bytes(method, call.request))
        # Not at the end of `_run`: a task that is cancelled before its first step never gets there.
        task.add_done_callback(partial(self._end_call, call.id))

    async def _run(self, call_id: int, method: Method, request: bytes, caller: Caller) -> None:
        try:
            response = await self._answering.answer(method, request, caller=caller)
        except Refused as refusal:
            self._running.pop(call_id, None)
            self._refuse(call_id, caller, refusal)
        else:
            self._running.pop(call_id, None)
            self._reply(Reply(id=call_id, response=response), caller, size_bytes=len(response))

    def _end_call(self, call_id: int, task: "asyncio.Task[None]") -> None:
        if self._running.get(call_id) is task:  # else its reply is on its way, or was written
            del self._running[call_id]
            self._load.let_go(call_id)
            self._begin_calls()
        self._end_if_drained()

    def _refuse(self, call_id: int, caller: Caller, refusal: Refused) -> None:
        reply = Reply(id=call_id, code=refusal.status, message=refusal.message)
        self._reply(reply, caller, size_bytes=len(refusal.message))

    def _reply(self, reply: Reply, caller: Caller, *, size_bytes: int) -> None:
        self._unwritten[reply.id] = caller
        self._load.hold(reply.id, size_bytes)
        self._replies.put(reply.id, reply, size_bytes=size_bytes)

    def _cancel(self, call_id: int) -> None:
        # The task stays in `_running` until it has ended, so that a drain waits for its cleaning up.
        if call := self._waiting.pop(call_id, None):
            self._leave_waiting(call)
        elif task := self._running.get(call_id):
            task.cancel()
        elif caller := self._unwritten.pop(call_id, None):
            caller.gone()
            if self._replies.drop(call_id):
                self._load.let_go(call_id)

    def _end_if_drained(self) -> None:
        if self._draining and not self._running:
            self._replies.end()


def _size_bytes(call: Call) -> int:
    return call.ByteSize() + PIECE_OVERHEAD_BYTES


def unknown_method(service: str, name: str) -> Refused:
    """For a method that this server does not have."""
    return Refused(
        Status.UNIMPLEMENTED, f"{service} has no method {name!r}: the client may be newer than the server, upgrade it"
    )

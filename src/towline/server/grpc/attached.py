"""One Attach stream: many calls of one service at a time. Without gRPC: it is given frames and a way to write them."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import NamedTuple

from towline import limits
from towline.api.stream_pb2 import AttachRequest, AttachResponse, Call
from towline.core.refusal import Refused, invalid
from towline.frames import PIECE_OVERHEAD_BYTES, FrameQueue
from towline.rpc import Method
from towline.server.caller import Caller
from towline.server.grpc.answer_size import size_to_come_bytes
from towline.server.grpc.answering import Answering
from towline.status import Status


class Answer(NamedTuple):
    """What becomes a Reply."""

    id: int
    code: int
    message: str
    response: bytes

    def size_bytes(self) -> int:
        """How much data it carries."""
        return len(self.message) + len(self.response)


class AttachedStream:
    """Runs each call as a task of its own; a reply that is ready waits at most for the write before it.

    A call's id is in exactly one place: `_waiting` until the stream has room for it, `_running` until its answer is
    ready, then `_unwritten` until that was written. Whoever leaves (a cancel frame, the end of the stream) is found in
    one of them, and its caller is told.

    A client that does not read its replies, or has very many calls out, makes its next calls wait: for
    `limits.ATTACH_CALLS` and `limits.ATTACH_HELD_SIZE_BYTES`. Frames are read on meanwhile, since they may cancel
    calls, until `limits.ATTACH_WAITING_SIZE_BYTES` of calls wait. Then `room` holds the reader up. That ends too:
    replies by being read, calls by the services' own time-outs.
    """

    def __init__(self, service: str, methods: Mapping[str, Method], answering: Answering) -> None:
        self._service = service
        self._methods = methods
        self._answering = answering
        self._waiting: OrderedDict[int, Call] = OrderedDict()
        self._waiting_bytes = 0
        self._running: dict[int, asyncio.Task[None]] = {}
        self._unwritten: dict[int, Caller] = {}
        self._held_bytes = 0  # by the calls that run, with what is set aside for their answers, and by the unwritten
        self._answers: FrameQueue[Answer] = FrameQueue(Answer.size_bytes)
        self._reader: asyncio.Future[None] | None = None
        self._draining = False

    def receive(self, frame: AttachRequest) -> None:
        """Take in the frame's calls and cancel what it cancels. Raises Refused: the stream is not usable any more."""
        for call in frame.calls:
            if call.cancel:
                self._cancel(call.id)
            elif call.id in self._waiting or call.id in self._running or call.id in self._unwritten:
                raise invalid(f"call id {call.id} is in use on this stream: give each call an id of its own")
            elif self._waiting or self._is_full():
                self._wait(call)
            else:
                self._begin(call)
        self._begin_calls()

    async def room(self) -> None:
        """Wait until the next frame may be read."""
        while self._waiting_bytes > limits.ATTACH_WAITING_SIZE_BYTES:
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader

    async def write_replies(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        """Write what is ready, until the stream has been drained and is empty."""
        while (answers := await self._answers.take()) is not None:
            frame = AttachResponse()
            for answer in answers:
                frame.replies.add(id=answer.id, code=answer.code, message=answer.message, response=answer.response)
            await write(frame.SerializeToString())
            for answer in answers:
                self._unwritten.pop(answer.id, None)
                self._held_bytes -= answer.size_bytes()
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
        self._answers.end()

    def _wait(self, call: Call) -> None:
        self._waiting[call.id] = call
        self._waiting_bytes += _size_bytes(call)

    def _begin_calls(self) -> None:
        """Begin those that wait, the oldest first, as far as there is room. Who drains has room for refusals."""
        while self._waiting and (self._draining or not self._is_full()):
            _, call = self._waiting.popitem(last=False)
            self._leave_waiting(call)
            self._begin(call)

    def _is_full(self) -> bool:
        return (
            self._held_bytes >= limits.ATTACH_HELD_SIZE_BYTES
            or len(self._running) + len(self._unwritten) >= limits.ATTACH_CALLS
        )

    def _leave_waiting(self, call: Call) -> None:
        self._waiting_bytes -= _size_bytes(call)
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def _begin(self, call: Call) -> None:
        method = self._methods.get(call.method)
        caller = Caller(call.timeout_ms if call.timeout_ms > 0 else None)
        if self._draining:
            refusal = Refused(Status.UNAVAILABLE, "the server is shutting down: try again on a new connection")
            self._refuse(call.id, caller, refusal)
        elif method is None:
            self._refuse(call.id, caller, unknown_method(self._service, call.method))
        else:
            call_id, request = call.id, call.request
            size_bytes = len(request) + size_to_come_bytes(method, request)
            self._held_bytes += size_bytes
            task = asyncio.get_running_loop().create_task(self._run(call_id, method, request, caller))
            self._running[call_id] = task
            # Not at the end of `_run`: a task that is cancelled before its first step never gets there.
            task.add_done_callback(partial(self._end_call, call_id, size_bytes))

    async def _run(self, call_id: int, method: Method, request: bytes, caller: Caller) -> None:
        try:
            response = await self._answering.answer(method, request, caller=caller)
        except Refused as refusal:
            self._refuse(call_id, caller, refusal)
        else:
            self._put(Answer(call_id, Status.OK, "", response), caller)

    def _end_call(self, call_id: int, size_bytes: int, _task: "asyncio.Task[None]") -> None:
        self._held_bytes -= size_bytes
        self._running.pop(call_id, None)
        self._begin_calls()
        self._end_if_drained()

    def _refuse(self, call_id: int, caller: Caller, refusal: Refused) -> None:
        self._put(Answer(call_id, refusal.status, refusal.message, b""), caller)

    def _put(self, answer: Answer, caller: Caller) -> None:
        self._running.pop(answer.id, None)
        self._unwritten[answer.id] = caller
        self._held_bytes += answer.size_bytes()
        self._answers.put(answer.id, answer)

    def _cancel(self, call_id: int) -> None:
        # The task stays in `_running` until it has ended, so that a drain waits for its cleaning up.
        if call := self._waiting.pop(call_id, None):
            self._leave_waiting(call)
        elif task := self._running.get(call_id):
            task.cancel()
        elif caller := self._unwritten.pop(call_id, None):
            caller.gone()
            if answer := self._answers.drop(call_id):
                self._held_bytes -= answer.size_bytes()

    def _end_if_drained(self) -> None:
        if self._draining and not self._running:
            self._answers.end()


def _size_bytes(call: Call) -> int:
    return call.ByteSize() + PIECE_OVERHEAD_BYTES


def unknown_method(service: str, name: str) -> Refused:
    """For a method that this server does not have."""
    return Refused(
        Status.UNIMPLEMENTED, f"{service} has no method {name!r}: the client may be newer than the server, upgrade it"
    )

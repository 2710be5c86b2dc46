"""One Attach stream: many calls of one service at a time. Without gRPC: it is given frames and a way to write them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from towline.api.stream_pb2 import AttachRequest, AttachResponse, Call
from towline.core.refusal import Refused, invalid
from towline.frames import FrameQueue
from towline.rpc import Method
from towline.server.caller import Caller
from towline.server.grpc.answering import Answering
from towline.status import Status


class AttachedStream:
    """Runs each call as a task of its own; a reply that is ready waits at most for the write before it.

    A call's id is in exactly one place: `_running` until its answer is ready, then `_unwritten` until that was written.
    Whoever leaves (a cancel frame, the end of the stream) is found in one of them, and its caller is told.
    """

    def __init__(self, service: str, methods: Mapping[str, Method], answering: Answering) -> None:
        self._service = service
        self._methods = methods
        self._answering = answering
        self._running: dict[int, asyncio.Task[None]] = {}
        self._unwritten: dict[int, Caller] = {}
        self._replies: FrameQueue[AttachResponse] = FrameQueue(AttachResponse)
        self._draining = False

    def receive(self, frame: AttachRequest) -> None:
        """Begin the frame's calls and cancel what it cancels. Raises Refused: the stream is not usable any more."""
        for call in frame.calls:
            if call.cancel:
                self._cancel(call.id)
            else:
                self._begin(call)

    async def write_replies(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        """Write what is ready, until the stream has been drained and is empty."""
        while (frame := await self._replies.take()) is not None:
            await write(frame.SerializeToString())
            for reply in frame.replies:
                self._unwritten.pop(reply.id, None)

    def drain(self) -> None:
        """Refuse new calls; once those that run are answered, `write_replies` ends."""
        self._draining = True
        self._end_if_drained()

    def abandon(self) -> None:
        """The other end is gone: cancel what runs, and tell the callers whose answers were not written."""
        for task in self._running.values():
            task.cancel()
        for caller in self._unwritten.values():
            caller.gone()
        self._unwritten.clear()
        self._replies.end()

    def _begin(self, call: Call) -> None:
        if call.id in self._running or call.id in self._unwritten:
            raise invalid(f"call id {call.id} is in use on this stream: give each call an id of its own")
        method = self._methods.get(call.method)
        if self._draining:
            refusal = Refused(Status.UNAVAILABLE, "the server is shutting down: try again on a new connection")
            self._refuse(call.id, refusal)
        elif method is None:
            self._refuse(call.id, unknown_method(self._service, call.method))
        else:
            task = asyncio.get_running_loop().create_task(self._run(call.id, method, call.request, Caller()))
            self._running[call.id] = task
            # Not at the end of `_run`: a task that is cancelled before its first step never gets there.
            task.add_done_callback(partial(self._end_call, call.id))

    async def _run(self, call_id: int, method: Method, request: bytes, caller: Caller) -> None:
        try:
            response = await self._answering.answer(method, request, caller=caller)
        except Refused as refusal:
            self._refuse(call_id, refusal)
        else:
            self._running.pop(call_id, None)
            self._unwritten[call_id] = caller
            self._replies.frame_for(len(response)).replies.add(id=call_id, response=response)

    def _end_call(self, call_id: int, _task: "asyncio.Task[None]") -> None:
        self._running.pop(call_id, None)
        self._end_if_drained()

    def _refuse(self, call_id: int, refusal: Refused) -> None:
        frame = self._replies.frame_for(len(refusal.message))
        frame.replies.add(id=call_id, code=refusal.status, message=refusal.message)

    def _cancel(self, call_id: int) -> None:
        # The task stays in `_running` until it has ended, so that a drain waits for its cleaning up.
        if task := self._running.get(call_id):
            task.cancel()
        elif caller := self._unwritten.pop(call_id, None):
            caller.gone()

    def _end_if_drained(self) -> None:
        if self._draining and not self._running:
            self._replies.end()


def unknown_method(service: str, name: str) -> Refused:
    """For a method that this server does not have."""
    return Refused(
        Status.UNIMPLEMENTED, f"{service} has no method {name!r}: the client may be newer than the server, upgrade it"
    )

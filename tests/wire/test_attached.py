"""The server's end of an Attach stream, without a wire."""

import asyncio
from typing import Any

import pytest
import structlog
from google.protobuf.message import Message

from tests.wire.fake_services import FakeServices, WaitingPoll
from towline import limits
from towline.api.stream_pb2 import AttachRequest, AttachResponse, Call, Reply
from towline.api.task_service_pb2 import PollActivityTaskResponse
from towline.core.refusal import Refused, fenced
from towline.rpc import TASK_METHODS
from towline.server.grpc.answering import Answering
from towline.server.grpc.attached import AttachedStream
from towline.status import Status


class Wire:
    """Takes frames, one at a time, when the test lets it."""

    def __init__(self, *, open: bool = True) -> None:
        self.frames: list[AttachResponse] = []
        self.writing = asyncio.Event()
        self.gate = asyncio.Event()
        if open:
            self.gate.set()

    async def write(self, frame: bytes) -> None:
        self.writing.set()
        await self.gate.wait()
        self.frames.append(AttachResponse.FromString(frame))

    @property
    def replies(self) -> list[Reply]:
        return [reply for frame in self.frames for reply in frame.replies]


class Attached:
    """A stream together with its writer and the services behind it."""

    def __init__(self, wire: Wire) -> None:
        self.services = FakeServices()
        answering = Answering(self.services, logger=structlog.get_logger())
        self.stream = AttachedStream("test.Service", TASK_METHODS, answering)
        self.writer = asyncio.create_task(self.stream.write_replies(wire.write))

    def receive(self, *calls: Call) -> None:
        self.stream.receive(AttachRequest(calls=calls))

    async def drained(self) -> None:
        self.stream.drain()
        await self.writer


def poll(call_id: int) -> Call:
    return Call(id=call_id, method="PollActivityTask")


def answering(token: bytes) -> Any:
    async def handler(_request: object, _caller: object) -> Message:
        return PollActivityTaskResponse(task_token=token)

    return handler


async def test_calls_of_one_frame_are_answered_in_one_frame() -> None:
    wire = Wire()
    attached = Attached(wire)
    attached.receive(poll(1), Call(id=2, method="RecordHeartbeat"), poll(3))
    await attached.drained()
    assert [[reply.id for reply in frame.replies] for frame in wire.frames] == [[1, 2, 3]]


async def test_replies_that_become_ready_during_a_write_travel_together_after_it() -> None:
    wire = Wire(open=False)
    attached = Attached(wire)
    attached.receive(poll(1))
    await wire.writing.wait()
    polls = [WaitingPoll(), WaitingPoll()]
    for number, waiting in enumerate(polls):
        attached.services.handlers["PollActivityTask"] = waiting
        attached.receive(poll(2 + number))
        await waiting.entered.wait()
        waiting.answer.set_result(PollActivityTaskResponse())
    attached.stream.drain()
    wire.gate.set()
    await attached.writer
    assert [[reply.id for reply in frame.replies] for frame in wire.frames] == [[1], [2, 3]]


async def test_large_replies_are_split_over_frames() -> None:
    wire = Wire()
    attached = Attached(wire)
    attached.services.handlers["PollActivityTask"] = answering(b"x" * (2 * limits.MIB))
    attached.receive(poll(1), poll(2), Call(id=3, method="RecordHeartbeat"))
    await attached.drained()
    assert [[reply.id for reply in frame.replies] for frame in wire.frames] == [[1], [2, 3]]
    assert max(frame.ByteSize() for frame in wire.frames) < limits.ATTACH_FRAME_SIZE_BYTES


async def test_the_largest_message_fits_a_frame_of_its_own() -> None:
    wire = Wire()
    attached = Attached(wire)
    attached.services.handlers["PollActivityTask"] = answering(b"x" * (limits.MESSAGE_SIZE_BYTES - 5))
    attached.receive(poll(1))
    await attached.drained()
    (frame,) = wire.frames
    assert len(frame.replies[0].response) == limits.MESSAGE_SIZE_BYTES
    assert frame.ByteSize() < limits.MESSAGE_SIZE_BYTES + limits.MESSAGE_ENVELOPE_SIZE_BYTES


async def test_a_refusal_is_a_reply_with_its_status() -> None:
    async def refuse(_request: object, _caller: object) -> bytes:
        raise fenced("the lease is over: drop the work")

    wire = Wire()
    attached = Attached(wire)
    attached.services.handlers["PollActivityTask"] = refuse
    attached.receive(poll(1))
    await attached.drained()
    assert wire.replies == [Reply(id=1, code=Status.FAILED_PRECONDITION, message="the lease is over: drop the work")]


async def test_an_unknown_method_is_refused_and_the_stream_lives_on() -> None:
    wire = Wire()
    attached = Attached(wire)
    attached.receive(Call(id=1, method="StartWorkflow"), Call(id=2, method="RecordHeartbeat"))
    await attached.drained()
    assert [(reply.id, reply.code) for reply in wire.replies] == [(1, Status.UNIMPLEMENTED), (2, Status.OK)]
    assert "test.Service has no method 'StartWorkflow'" in wire.replies[0].message


async def test_an_id_that_is_in_use_ends_the_stream() -> None:
    attached = Attached(Wire())
    attached.services.handlers["PollActivityTask"] = WaitingPoll()
    attached.receive(poll(1))
    with pytest.raises(Refused, match="call id 1 is in use"):
        attached.receive(poll(1))
    attached.stream.abandon()
    await attached.writer


async def test_a_cancel_frame_cancels_a_call_that_runs() -> None:
    wire = Wire()
    attached = Attached(wire)
    waiting = attached.services.handlers["PollActivityTask"] = WaitingPoll()
    attached.receive(poll(1))
    await waiting.entered.wait()
    attached.receive(Call(id=1, cancel=True))
    await waiting.cancelled.wait()
    await waiting.gone.wait()
    await attached.drained()
    assert wire.replies == []


async def test_a_call_that_is_cancelled_in_the_frame_it_came_with_never_begins() -> None:
    attached = Attached(Wire())
    attached.receive(poll(1), Call(id=1, cancel=True))
    await attached.drained()
    assert attached.services.requests == []


@pytest.mark.parametrize(("timeout_ms", "deadline_ms"), [(1_500, 1_500), (0, None), (-1, None)])
async def test_the_services_know_how_long_the_caller_waits(timeout_ms: int, deadline_ms: int | None) -> None:
    attached = Attached(Wire())
    waiting = attached.services.handlers["PollActivityTask"] = WaitingPoll()
    attached.receive(Call(id=1, method="PollActivityTask", timeout_ms=timeout_ms))
    await waiting.entered.wait()
    assert waiting.deadline_ms == deadline_ms
    attached.stream.abandon()
    await attached.writer


async def test_cancelling_what_is_not_known_does_nothing() -> None:
    wire = Wire()
    attached = Attached(wire)
    attached.receive(Call(id=9, cancel=True), poll(1))
    await attached.drained()
    assert [reply.id for reply in wire.replies] == [1]


async def unwritten(wire: Wire) -> tuple[Attached, WaitingPoll]:
    """A poll whose answer is ready behind a write that does not end."""
    attached = Attached(wire)
    attached.receive(Call(id=1, method="RecordHeartbeat"))
    await wire.writing.wait()
    waiting = attached.services.handlers["PollActivityTask"] = WaitingPoll()
    waiting.answer.set_result(PollActivityTaskResponse(task_token=b"t"))
    attached.receive(poll(2))
    await waiting.entered.wait()
    return attached, waiting


async def test_a_cancel_frame_for_an_answer_that_was_not_written_says_gone() -> None:
    wire = Wire(open=False)
    attached, waiting = await unwritten(wire)
    attached.receive(Call(id=2, cancel=True))
    assert waiting.gone.is_set()
    wire.gate.set()
    await attached.drained()


async def test_a_stream_that_breaks_says_gone_for_what_was_not_written() -> None:
    attached, waiting = await unwritten(Wire(open=False))
    attached.stream.abandon()
    assert waiting.gone.is_set()
    attached.writer.cancel()


async def test_what_was_written_is_not_gone_when_the_stream_breaks() -> None:
    wire = Wire(open=False)
    attached, waiting = await unwritten(wire)
    wire.gate.set()
    await attached.drained()
    attached.stream.abandon()
    assert not waiting.gone.is_set()
    assert [reply.id for reply in wire.replies] == [1, 2]


async def test_a_stream_that_breaks_cancels_what_runs() -> None:
    attached = Attached(Wire())
    waiting = attached.services.handlers["PollActivityTask"] = WaitingPoll()
    attached.receive(poll(1))
    await waiting.entered.wait()
    attached.stream.abandon()
    await waiting.cancelled.wait()
    await attached.writer


async def test_a_draining_stream_answers_what_runs_and_refuses_the_rest() -> None:
    wire = Wire()
    attached = Attached(wire)
    waiting = attached.services.handlers["PollActivityTask"] = WaitingPoll()
    attached.receive(poll(1))
    await waiting.entered.wait()
    attached.stream.drain()
    attached.receive(poll(2))
    waiting.answer.set_result(PollActivityTaskResponse())
    await attached.writer
    assert sorted((reply.id, reply.code) for reply in wire.replies) == [(1, Status.OK), (2, Status.UNAVAILABLE)]

"""An Attach stream whose client reads slowly, or asks for more than there is room for."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
import structlog

from tests.wire.fake_services import FakeServices, WaitingPoll
from towline import limits
from towline.api.stream_pb2 import AttachRequest, AttachResponse, Call, Reply
from towline.api.task_service_pb2 import PollActivityTaskResponse
from towline.api.workflow_service_pb2 import GetHistoryRequest
from towline.core.refusal import Refused
from towline.rpc import METHODS
from towline.server.grpc.answering import Answering
from towline.server.grpc.attached import AttachedStream
from towline.server.grpc.handlers import ServiceHandler
from towline.status import Status


class Stream:
    """One whose client reads a frame when the test lets it."""

    def __init__(self) -> None:
        self.services = FakeServices()
        self.replies: list[Reply] = []
        self.reading = asyncio.Semaphore(0)
        self._replied = asyncio.Condition()
        self.stream = AttachedStream("s", METHODS, Answering(self.services, logger=structlog.get_logger()))
        self.writer = asyncio.create_task(self.stream.write_replies(self._write))

    async def _write(self, frame: bytes) -> None:
        await self.reading.acquire()
        async with self._replied:
            self.replies.extend(AttachResponse.FromString(frame).replies)
            self._replied.notify_all()

    async def all_replied(self, count: int) -> None:
        async with self._replied:
            await self._replied.wait_for(lambda: len(self.replies) == count)

    def receive(self, *calls: Call) -> None:
        self.stream.receive(AttachRequest(calls=calls))

    async def drained(self) -> None:
        for _ in range(10_000):
            self.reading.release()
        self.stream.drain()
        await self.writer


@pytest.fixture
async def one() -> Stream:
    return Stream()


def poll(call_id: int, request: bytes = b"") -> Call:
    return Call(id=call_id, method="PollActivityTask", request=request)


def page(call_id: int, **fields: Any) -> Call:
    request = GetHistoryRequest(maximum_page_size_bytes=limits.MAXIMUM_PAGE_SIZE_BYTES, **fields)
    return Call(id=call_id, method="GetHistory", request=request.SerializeToString())


def padded(call_id: int) -> Call:
    """A call that waits, of 1 MiB."""
    return poll(call_id, b"\x12\x80\x80\x40" + b"x" * limits.MIB)


async def settle() -> None:
    """Let everything run that can."""
    for _ in range(20):
        await asyncio.sleep(0)


def large(entered: list[int], size_bytes: int) -> Any:
    async def handler(_request: object, _caller: object) -> bytes:
        entered.append(size_bytes)
        return b"x" * size_bytes

    return handler


async def test_calls_wait_while_too_much_is_unread_and_are_begun_as_it_is_read(one: Stream) -> None:
    entered: list[int] = []
    one.services.handlers["PollActivityTask"] = large(entered, 2 * limits.MIB)
    for number in range(100):
        one.receive(poll(number))
        await settle()
    assert sum(entered) == limits.ATTACH_HELD_SIZE_BYTES
    for _ in range(100):
        one.reading.release()
    await one.all_replied(100)
    assert [reply.id for reply in one.replies] == list(range(100))
    await one.drained()


async def test_a_page_of_history_is_read_when_another_was_sent(one: Stream) -> None:
    entered: list[int] = []
    one.services.handlers["GetHistory"] = large(entered, limits.MAXIMUM_PAGE_SIZE_BYTES)
    one.receive(*(page(number) for number in range(400)))
    await settle()
    begun = len(entered)
    for _ in range(3):
        one.reading.release()
    await settle()
    assert (len(one.replies), len(entered)) == (3, begun + 3)
    one.stream.abandon()
    one.writer.cancel()


async def test_pages_of_history_that_are_asked_for_at_once_are_not_all_read_at_once(one: Stream) -> None:
    entered: list[int] = []
    one.services.handlers["GetHistory"] = large(entered, limits.MAXIMUM_PAGE_SIZE_BYTES)
    one.receive(*(page(number) for number in range(400)))
    await settle()
    assert sum(entered) < limits.ATTACH_HELD_SIZE_BYTES + limits.MAXIMUM_PAGE_SIZE_BYTES
    for _ in range(400):
        one.reading.release()
    await one.all_replied(400)
    assert len(entered) == 400
    await one.drained()


@pytest.mark.parametrize("fields", [{"wait_new_event": True}, {"wait_new_event": True, "close_event_only": True}])
async def test_those_who_wait_for_news_keep_nobody_out(one: Stream, fields: dict[str, bool]) -> None:
    waiting = WaitingPoll()
    one.services.handlers["GetHistory"] = waiting
    one.receive(*(page(number, **fields) for number in range(1_000)))
    one.receive(Call(id=1_000, method="StartWorkflow"))
    one.reading.release()
    await settle()
    assert [reply.id for reply in one.replies] == [1_000]
    one.stream.abandon()
    await one.writer


async def test_a_page_size_that_makes_no_sense_frees_no_room(one: Stream) -> None:
    one.services.handlers["GetHistory"] = WaitingPoll()
    entered: list[int] = []
    one.services.handlers["PollActivityTask"] = large(entered, 2 * limits.MIB)
    asked = GetHistoryRequest(maximum_page_size_bytes=-(2**60)).SerializeToString()
    one.receive(Call(id=1_000, method="GetHistory", request=asked))
    for number in range(100):
        one.receive(poll(number))
        await settle()
    assert sum(entered) <= limits.ATTACH_HELD_SIZE_BYTES + 2 * limits.MIB
    one.stream.abandon()
    one.writer.cancel()


@pytest.fixture
def few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ATTACH_CALLS", 3)


@pytest.mark.usefixtures("few_calls")
async def test_a_call_too_many_waits_for_another_to_be_answered(one: Stream) -> None:
    poll_answer = one.services.handlers["PollActivityTask"] = WaitingPoll()
    one.receive(poll(1), poll(2), poll(3), Call(id=4, method="RecordHeartbeat"))
    await settle()
    assert len(one.services.requests) == 3
    poll_answer.answer.set_result(PollActivityTaskResponse())
    one.reading.release()
    await settle()
    assert len(one.services.requests) == 4
    await one.drained()
    assert [reply.id for reply in one.replies] == [1, 2, 3, 4]


@pytest.mark.usefixtures("few_calls")
async def test_cancellations_are_heard_while_calls_wait_and_make_room(one: Stream) -> None:
    waiting = one.services.handlers["PollActivityTask"] = WaitingPoll()
    one.receive(poll(1), poll(2), poll(3), poll(4), Call(id=5, method="RecordHeartbeat"))
    await waiting.entered.wait()
    one.receive(Call(id=4, cancel=True))  # waits
    one.receive(Call(id=2, cancel=True))  # runs
    one.reading.release()
    await settle()
    assert [reply.id for reply in one.replies] == [5]
    assert len(one.services.requests) == 4
    one.stream.abandon()
    await one.writer


@pytest.mark.usefixtures("few_calls")
async def test_a_cancelled_answer_that_was_not_written_makes_room_and_is_not_sent(one: Stream) -> None:
    one.receive(Call(id=1, method="RecordHeartbeat"))
    await settle()  # is being written
    one.receive(*(Call(id=number, method="RecordHeartbeat") for number in (2, 3, 4)))
    await settle()
    assert len(one.services.requests) == 3
    one.receive(Call(id=2, cancel=True))
    await settle()
    assert len(one.services.requests) == 4
    await one.drained()
    assert [reply.id for reply in one.replies] == [1, 3, 4]


@pytest.mark.usefixtures("few_calls")
async def test_no_frame_is_read_while_too_many_calls_wait(one: Stream) -> None:
    waiting = one.services.handlers["PollActivityTask"] = WaitingPoll()
    one.receive(*(poll(number) for number in range(3)))
    for number in range(3, 12):
        one.receive(padded(number))
    reader = asyncio.create_task(one.stream.room())
    await settle()
    assert not reader.done()
    waiting.answer.set_result(PollActivityTaskResponse())
    one.reading.release()
    await reader
    await one.drained()
    assert len(one.replies) == 12


@pytest.mark.usefixtures("few_calls")
async def test_an_id_of_a_call_that_waits_is_in_use(one: Stream) -> None:
    one.services.handlers["PollActivityTask"] = WaitingPoll()
    one.receive(*(poll(number) for number in range(4)))
    with pytest.raises(Refused, match="call id 3 is in use"):
        one.receive(poll(3))
    one.stream.abandon()
    await one.writer


@pytest.mark.usefixtures("few_calls")
async def test_calls_that_wait_are_refused_when_the_server_goes(one: Stream) -> None:
    waiting = one.services.handlers["PollActivityTask"] = WaitingPoll()
    one.receive(*(poll(number) for number in range(5)))
    await waiting.entered.wait()
    waiting.answer.set_result(PollActivityTaskResponse())
    one.stream.drain()
    await one.drained()
    codes = {reply.id: reply.code for reply in one.replies}
    assert codes == {0: Status.OK, 1: Status.OK, 2: Status.OK, 3: Status.UNAVAILABLE, 4: Status.UNAVAILABLE}


@pytest.mark.usefixtures("few_calls")
async def test_calls_that_wait_are_forgotten_with_their_client(one: Stream) -> None:
    one.services.handlers["PollActivityTask"] = WaitingPoll()
    one.receive(*(poll(number) for number in range(5)))
    await settle()
    one.stream.abandon()
    await one.writer
    await settle()
    assert len(one.services.requests) == 3


class Context:
    """A gRPC context whose client has sent these frames, and then waits."""

    def __init__(self, *frames: AttachRequest) -> None:
        self.unread = [frame.SerializeToString() for frame in frames]
        self.written = asyncio.Event()

    async def read(self) -> bytes:
        if not self.unread:
            await asyncio.get_running_loop().create_future()
        return self.unread.pop(0)

    async def write(self, _frame: bytes) -> None:
        self.written.set()


async def test_frames_are_left_to_grpc_until_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ATTACH_CALLS", 1)
    monkeypatch.setattr(limits, "ATTACH_WAITING_SIZE_BYTES", 0)
    services = FakeServices()
    waiting = services.handlers["PollActivityTask"] = WaitingPoll()
    handler = ServiceHandler("s", METHODS, Answering(services, logger=structlog.get_logger()))
    attach = handler.service(SimpleNamespace(method="/s/Attach"))  # type: ignore[arg-type]
    context = Context(AttachRequest(calls=[poll(1), poll(2)]), AttachRequest(calls=[poll(3)]))
    stream = asyncio.create_task(attach.stream_stream(None, context))
    await waiting.entered.wait()
    await settle()
    assert len(context.unread) == 1
    waiting.answer.set_result(PollActivityTaskResponse())
    await context.written.wait()
    await settle()
    assert (len(context.unread), len(services.requests)) == (0, 3)
    stream.cancel()
    await asyncio.wait([stream])

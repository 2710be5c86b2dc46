"""Callers that vanish between the services' answer and its way onto the wire."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
import structlog

from tests.wire.fake_services import FakeServices
from towline.rpc import TASK_METHODS, TASK_SERVICE
from towline.server.grpc.answering import Answering
from towline.server.grpc.handlers import ServiceHandler


class BrokenContext:
    """A gRPC context whose client has hung up already."""

    def time_remaining(self) -> None:
        return None

    async def write(self, _message: bytes) -> None:
        raise asyncio.CancelledError


class GoodContext(BrokenContext):
    def __init__(self) -> None:
        self.written: list[bytes] = []

    async def write(self, message: bytes) -> None:
        self.written.append(message)


def leasing(leases: list[str]) -> FakeServices:
    async def poll(_request: object, caller: Any) -> bytes:
        leases.append("leased")
        caller.on_gone(lambda: leases.append("given back"))
        return b"\x0a\x01t"

    return FakeServices({"PollActivityTask": poll})


async def poll(services: FakeServices, context: BrokenContext) -> None:
    answering = Answering(services, logger=structlog.get_logger())
    handler = ServiceHandler(TASK_SERVICE.full_name, TASK_METHODS, answering)
    found = handler.service(SimpleNamespace(method=TASK_METHODS["PollActivityTask"].path))  # type: ignore[arg-type]
    await found.unary_stream(b"", context)


async def test_a_lease_is_given_back_if_its_answer_cannot_be_written() -> None:
    leases: list[str] = []
    with pytest.raises(asyncio.CancelledError):
        await poll(leasing(leases), BrokenContext())
    assert leases == ["leased", "given back"]


async def test_a_lease_is_kept_if_its_answer_was_written() -> None:
    leases: list[str] = []
    context = GoodContext()
    await poll(leasing(leases), context)
    assert (leases, context.written) == (["leased"], [b"\x0a\x01t"])

"""A server for the examples to run on."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from towline.client import Client
from towline.server.app import serve
from towline.server.settings import Settings


@pytest.fixture
async def address() -> AsyncIterator[str]:
    """A server in this process, in memory."""
    stop = asyncio.Event()
    listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.ensure_future(serve(Settings(address="127.0.0.1:0"), on_ready=listening.set_result, stop=stop))
    either: list[asyncio.Future[Any]] = [serving, listening]
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    yield listening.result()
    stop.set()
    await serving


@pytest.fixture
async def client(address: str) -> AsyncIterator[Client]:
    """A client of that server."""
    async with await Client.connect(address) as client:
        yield client

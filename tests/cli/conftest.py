"""A real server for commands to talk to."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from towline.cli.main import main
from towline.server.app import serve
from towline.server.settings import Settings


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command did."""

    status: int
    out: str
    err: str


Towline = Callable[..., Awaitable[Ran]]


@pytest.fixture
async def address(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """A server in this process, in memory; commands find it without being told."""
    stop = asyncio.Event()
    listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.ensure_future(serve(Settings(address="127.0.0.1:0"), on_ready=listening.set_result, stop=stop))
    either: list[asyncio.Future[Any]] = [serving, listening]
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    monkeypatch.setenv("TOWLINE_TARGET", listening.result())
    yield listening.result()
    stop.set()
    await serving


@pytest.fixture
def towline(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Towline:
    """Runs the command as the shell would, on a wide terminal without colours."""
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setenv("TZ", "UTC")

    async def run(*tokens: str) -> Ran:
        capsys.readouterr()
        status = await asyncio.to_thread(main, tokens)
        out, err = capsys.readouterr()
        return Ran(status, out, err)

    return run

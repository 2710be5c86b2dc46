"""What the loop refuses, and that it refuses all that asyncio has."""

import asyncio
import inspect
import socket
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.runtime.histories import Run, broken
from towline import workflow
from towline.runtime.loop import DeterministicLoop

# Each does something that cannot be replayed.
FORBIDDEN: dict[str, tuple[Callable[[], Awaitable[Any]], str]] = {
    "thread": (lambda: asyncio.to_thread(print), "threads do not replay: do the work in an activity"),
    "connection": (lambda: asyncio.open_connection("localhost", 1), "workflow code does no I/O"),
    "server": (lambda: asyncio.start_server(print, "localhost", 1), "workflow code does no I/O"),
    "process": (lambda: asyncio.create_subprocess_shell("true"), "workflow code does no I/O"),
    "name": (lambda: asyncio.get_running_loop().getaddrinfo("localhost", 1), "workflow code does no I/O"),
    "socket": (lambda: asyncio.get_running_loop().sock_recv(socket.socket(), 1), "workflow code does no I/O"),
}


@workflow.defn
async def does(what: str) -> None:
    await FORBIDDEN[what][0]()


@pytest.mark.parametrize("what", sorted(FORBIDDEN))
def test_io_and_threads_are_refused_with_the_deterministic_way(what: str) -> None:
    failed = broken(Run(does, what).decide())
    assert failed.failure.application_failure_info.type == "NotPossibleInWorkflow"
    assert "is not possible in a workflow: " + FORBIDDEN[what][1] in failed.failure.message


def test_the_loop_answers_for_everything_that_asyncio_can_call() -> None:
    """Otherwise user code would see a bare NotImplementedError."""
    public = [name for name, _ in inspect.getmembers(asyncio.AbstractEventLoop, inspect.isfunction) if name[0] != "_"]
    missing = [name for name in public if getattr(DeterministicLoop, name) is getattr(asyncio.AbstractEventLoop, name)]
    assert missing == []


@workflow.defn
async def looks_at_the_loop() -> list[object]:
    loop = asyncio.get_running_loop()
    loop.set_debug(True)
    return [loop.is_running(), loop.is_closed(), loop.get_debug(), loop.time() == workflow.time()]


def test_the_loop_says_what_workflow_code_may_know() -> None:
    run = Run(looks_at_the_loop)
    run.step()
    assert run.result() == [True, False, False, True]

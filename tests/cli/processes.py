"""Towline commands as processes of their own."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path


class Process:
    """A command that runs. Its output, stdout and stderr together, is read line by line."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.lines: list[str] = []

    async def line_with(self, words: str) -> str:
        """Wait for a line that has these words, and give it back. Raises AssertionError if the process ends first."""
        assert self._process.stdout is not None
        while line := (await self._process.stdout.readline()).decode():
            self.lines.append(line.rstrip())
            if words in line:
                return line.rstrip()
        raise AssertionError(f"no line has {words!r}: {self.lines}")

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._process.send_signal(number)

    async def end(self) -> int:
        """Wait until it has ended and give back its exit status; `lines` then has all it wrote."""
        assert self._process.stdout is not None
        rest = await self._process.stdout.read()
        self.lines.extend(rest.decode().splitlines())
        return await self._process.wait()

    async def kill_if_running(self) -> None:
        """For tests that failed half-way: stop it with SIGTERM, so that it stops its children, too."""
        if self._process.returncode is None:
            self._process.terminate()
            await self.end()


@asynccontextmanager
async def towline_process(*tokens: str, folder: Path) -> AsyncIterator[Process]:
    """`towline …` in that folder, for the length of the block."""
    process = Process(
        await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "towline.cli",
            *tokens,
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
    )
    try:
        yield process
    finally:
        await process.kill_if_running()

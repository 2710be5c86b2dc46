"""The server and the worker, each in a process of its own."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
READY_TIMEOUT_S: Final = 30
STOP_TIMEOUT_S: Final = 40
LOOK_INTERVAL_S: Final = 0.02
LOG_TAIL_LINES: Final = 30


class ProcessEnded(Exception):
    """A process that should run does not; the message has the end of its log."""


@dataclass(frozen=True, slots=True)
class Child:
    """A running part, with its output going to `log`."""

    name: str
    process: asyncio.subprocess.Process
    log: Path

    @property
    def pid(self) -> int:
        """The process id."""
        return self.process.pid

    async def watch(self) -> None:
        """Wait until it ends, which it should not: raises ProcessEnded."""
        status = await self.process.wait()
        raise self.ended(f"ended with status {status}")

    def ended(self, what: str) -> ProcessEnded:
        """The error that tells what happened, and what it logged last."""
        tail = self.log.read_text(errors="replace").splitlines()[-LOG_TAIL_LINES:]
        return ProcessEnded("\n".join([f"the {self.name} {what}; the end of its log:", *tail]))

    async def stop(self) -> None:
        """SIGTERM, and SIGKILL if that does not help."""
        if self.process.returncode is None:
            self.process.terminate()
        try:
            await asyncio.wait_for(self.process.wait(), STOP_TIMEOUT_S)
        except TimeoutError:
            self.process.kill()
            await self.process.wait()


@asynccontextmanager
async def running(name: str, folder: Path, *arguments: str) -> AsyncIterator[Child]:
    """`towline <arguments>` as a child process, stopped at the end."""
    log = folder / f"{name}.log"
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "towline.cli", *arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=asyncio.subprocess.STDOUT,
            cwd=ROOT,
        )
    child = Child(name, process, log)
    try:
        yield child
    finally:
        await child.stop()


@asynccontextmanager
async def running_server(folder: Path) -> AsyncIterator[tuple[Child, str]]:
    """A server on a new SQLite file and a free port; gives its address, once it answers."""
    ready = folder / "address"
    options = ("--db", str(folder / "bench.db"), "--address", "127.0.0.1:0", "--ready-file", str(ready))
    async with running("server", folder, "server", *options, "--log-level", "warning") as server:
        yield server, await _address(server, ready)


@asynccontextmanager
async def running_worker(folder: Path, address: str) -> AsyncIterator[Child]:
    """A worker for `bench.app`."""
    async with running(
        "worker", folder, "worker", "bench.app", "--target", address, "--log-level", "warning"
    ) as worker:
        yield worker


async def _address(server: Child, ready: Path) -> str:
    try:
        async with asyncio.timeout(READY_TIMEOUT_S):
            while not (address := _read(ready)):
                if server.process.returncode is not None:
                    await server.watch()
                await asyncio.sleep(LOOK_INTERVAL_S)
            return address
    except TimeoutError:
        raise server.ended(f"was not ready after {READY_TIMEOUT_S} s") from None


def _read(ready: Path) -> str:
    return ready.read_text().strip() if ready.exists() else ""

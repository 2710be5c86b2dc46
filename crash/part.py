"""A process that is killed and comes back."""

import asyncio
import signal
import sys
from pathlib import Path
from typing import Final

from towline.clock import Clock

ROOT: Final = Path(__file__).parents[1]
_STOP_TIMEOUT_S: Final = 60
_READY_TIMEOUT_MS: Final = 60_000
_LOOK_INTERVAL_MS: Final = 10
# What a worker says that found no server for some seconds: no fault, as somebody who starts it starts it again.
_NO_SERVER: Final = "no Towline server answers"


class PartFault(Exception):
    """A process did what it must not do by itself; the message has the end of its log."""


class Part:
    """`towline <arguments>` as a child process, one life after another. Its output goes to `log`.

    `ready_line` is what it prints once it is up. `fault` gets a PartFault when it ends though nobody killed it.
    """

    def __init__(self, name: str, arguments: list[str], *, ready_line: bytes, log: Path, clock: Clock) -> None:
        self.name = name
        self.lives = 0
        self.gave_up = 0  # how often it ended because it found no server, and was started again
        self.start_up_ms = 0  # how long its first start took
        self.fault: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._arguments = arguments
        self._ready_line = ready_line
        self._log = log
        self._clock = clock
        self._process: asyncio.subprocess.Process | None = None
        self._to_be_ended: asyncio.subprocess.Process | None = None
        self._minding: asyncio.Task[None] | None = None
        self._log_begin = 0
        self._over = False

    async def start(self) -> None:
        """Begin a life."""
        self.lives += 1
        with self._log.open("ab") as output:
            self._log_begin = output.seek(0, 2)
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "towline.cli", *self._arguments),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=asyncio.subprocess.STDOUT,
                cwd=ROOT,
            )
        self._process = process
        self._minding = asyncio.create_task(self._mind(process))

    async def start_and_wait(self) -> None:
        """Begin the first life, and come back once it is up. Raises PartFault if that takes too long."""
        began_ms = self._clock.now_ms()
        await self.start()
        await self.wait_until_ready()
        self.start_up_ms = self._clock.now_ms() - began_ms

    def ready(self) -> bool:
        """This life has come so far that it prints that it is up."""
        with self._log.open("rb") as log:
            log.seek(self._log_begin)
            return self._ready_line in log.read()

    async def wait_until_ready(self) -> None:
        """Come back once it is up. Raises PartFault if that takes too long, or if it ended by itself."""
        give_up_at_ms = self._clock.now_ms() + _READY_TIMEOUT_MS
        while not self.ready():
            if self.fault.done():
                self.fault.result()
            if self._clock.now_ms() > give_up_at_ms:
                raise PartFault(self.last_words(f"was not up after {_READY_TIMEOUT_MS} ms"))
            await self._clock.sleep(_LOOK_INTERVAL_MS)

    async def kill(self) -> bool:
        """SIGKILL. True: it lived, and this ended it."""
        process = self._process
        if process is None or process.returncode is not None:
            return False
        self._to_be_ended = process
        process.kill()
        return await process.wait() == -signal.SIGKILL

    async def stop(self) -> None:
        """SIGTERM, and wait. Raises PartFault if it does not end, or ends in another way than it should."""
        await self.wait_until_ready()
        process = self._process
        if process is None or process.returncode is not None:
            return
        self._to_be_ended = process
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), _STOP_TIMEOUT_S)
        except TimeoutError:
            raise PartFault(self.last_words(f"did not end within {_STOP_TIMEOUT_S} s of its SIGTERM")) from None
        if process.returncode != 0:
            raise PartFault(self.last_words(f"was to stop, and ended with status {process.returncode}"))

    async def abandon(self) -> None:
        """Whatever becomes of it: no process of it is left."""
        self._over = True
        for _ in range(2):  # the second time for a life that was just beginning at the first
            await self.kill()
            if self._minding is not None:
                await self._minding
        if self.fault.done():
            self.fault.exception()

    def last_words(self, what: str) -> str:
        """What happened to it, and the end of its log."""
        tail = self._log.read_text(errors="replace").splitlines()[-20:] if self._log.exists() else []
        return "\n".join([f"the {self.name} {what}; the end of its log:", *(f"    {line}" for line in tail)])

    def state(self) -> str:
        """For the report of a hang."""
        process = self._process
        if process is None:
            return "was never started"
        return f"(pid {process.pid}, life {self.lives}) " + (
            "runs" if process.returncode is None else f"ended with status {process.returncode}"
        )

    async def _mind(self, process: asyncio.subprocess.Process) -> None:
        status = await process.wait()
        if self._over or (process is self._to_be_ended and status in (-signal.SIGKILL, 0)):
            return
        if _NO_SERVER in self._log.read_text(errors="replace")[-500:]:
            self.gave_up += 1
            await self.start()
        elif not self.fault.done():
            self.fault.set_exception(PartFault(self.last_words(f"ended by itself with status {status}")))

"""A process that is killed and comes back."""

import asyncio
import signal
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]


class Part:
    """`towline <arguments>` as a child process. Its output goes to `log`, one life after another."""

    def __init__(self, name: str, arguments: list[str], *, log: Path) -> None:
        self.name = name
        self.lives = 0
        self._arguments = arguments
        self._log = log
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Begin a life."""
        self.lives += 1
        with self._log.open("ab") as output:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "towline.cli", *self._arguments),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=asyncio.subprocess.STDOUT,
                cwd=ROOT,
            )

    async def kill(self) -> bool:
        """SIGKILL. True: it lived, and this ended it."""
        process = self._process
        if process is None or process.returncode is not None:
            return False
        process.kill()
        return await process.wait() == -signal.SIGKILL

    async def stop(self) -> None:
        """SIGTERM, and wait."""
        process = self._process
        if process is not None and process.returncode is None:
            process.terminate()
            await process.wait()

    def died(self) -> str | None:
        """How it ended by itself, which it must not; None: it runs."""
        if self._process is None or self._process.returncode is None:
            return None
        tail = self._log.read_text(errors="replace").splitlines()[-20:]
        return "\n".join([f"the {self.name} ended by itself with status {self._process.returncode}:", *tail])

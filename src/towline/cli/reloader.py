"""Keeping one worker running, on the newest code."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from rich.console import Console
from rich.text import Text
from watchfiles import PythonFilter, awatch

from towline.cli.child import Child
from towline.cli.errors import CliError
from towline.cli.process_signals import on_stop_signal

# How long activities may go on with the old code after a change.
_PATIENCE_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class _News:
    """Something that the reloader must act on."""

    kind: Literal["stop", "changed", "ended"]
    child: Child | None = None


class Reloader:
    """Runs a worker until it is told to stop or the server ends; another one whenever the code changes."""

    def __init__(self, worker: Sequence[str], *, folder: Path, server: Child) -> None:
        """`worker`: the arguments of the `towline worker` to run. `folder`: whose .py files are watched."""
        self._arguments = worker
        self._folder = folder
        self._server = server
        self._worker: Child | None = None
        self._news: asyncio.Queue[_News] = asyncio.Queue()

    async def run(self) -> None:
        """Come back when a stop signal was obeyed. Raises CliError if the server ended."""
        watcher = asyncio.ensure_future(self._watch())
        with on_stop_signal(self._on_stop_signal):
            try:
                self._tell_when_ended(self._server)
                await self._start()
                while await self._act(await self._news.get()):
                    pass
            finally:
                watcher.cancel()
                if self._worker is not None:
                    await self._worker.stop()

    async def _act(self, news: _News) -> bool:
        """Give back whether to go on."""
        match news.kind:
            case "stop":
                return False
            case "changed":
                await self._restart()
            case "ended" if news.child is self._server:
                raise CliError("the server ended: see its message above")
            case "ended" if news.child is self._worker:
                _say("the worker ended; it starts again when the code changes", style="yellow")
            case "ended":
                pass  # an earlier worker
        return True

    async def _start(self) -> None:
        self._worker = await Child.start(self._arguments)
        self._tell_when_ended(self._worker)

    async def _restart(self) -> None:
        old, self._worker = self._worker, None
        if old is not None:
            await old.stop(patience_s=_PATIENCE_S)
        await self._start()

    async def _watch(self) -> None:
        async for changes in awatch(self._folder, watch_filter=PythonFilter()):
            names = ", ".join(sorted({Path(path).name for _, path in changes}))
            _say(f"{names} changed: the worker starts again", style="cyan")
            self._news.put_nowait(_News("changed"))

    def _tell_when_ended(self, child: Child) -> None:
        child.ended.add_done_callback(lambda _: self._news.put_nowait(_News("ended", child)))

    def _on_stop_signal(self, count: int) -> None:
        if count == 1:
            self._news.put_nowait(_News("stop"))
        elif self._worker is not None:
            self._worker.ask_to_stop()


def _say(line: str, *, style: str) -> None:
    Console(stderr=True, highlight=False).print(Text(line, style=style), soft_wrap=True)

"""A Towline command as a child process."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from typing import Self

from towline.cli.errors import CliError
from towline.cli.lifeline import VARIABLE, Lifeline


class Child:
    """One child. Its session is its own, so that Ctrl-C reaches the parent alone, which stops its children in order.

    A parent that is killed cannot do that: its children then stop by themselves, see Lifeline.
    """

    def __init__(self, process: asyncio.subprocess.Process, lifeline: Lifeline) -> None:
        self._process = process
        self.ended: asyncio.Task[int] = asyncio.ensure_future(process.wait())
        self.ended.add_done_callback(lambda _: lifeline.cut())

    @classmethod
    async def start(cls, arguments: Sequence[str], *, pass_fds: Sequence[int] = ()) -> Self:
        """Run `towline` with these arguments; its output goes where ours goes."""
        lifeline = Lifeline()
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                # No .pyc files: their check takes two changes within a second that leave the size as it was for none.
                "-B",
                "-m",
                "towline.cli",
                *arguments,
                stdin=asyncio.subprocess.DEVNULL,
                pass_fds=(lifeline.read_end, *pass_fds),
                env={**os.environ, VARIABLE: str(lifeline.read_end)},
                start_new_session=True,
            )
        except BaseException:
            lifeline.cut()  # a child that did start goes, too
            raise
        finally:
            lifeline.handed_over()
        return cls(process, lifeline)

    def ask_to_stop(self) -> None:
        """Send SIGTERM, if it still runs. The first one is a request, the second one an order: see `towline worker`."""
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGTERM)

    async def stop(self, *, patience_s: float | None = None) -> int:
        """Ask it to stop and wait until it has; where a patience is given, ask again after that time."""
        self.ask_to_stop()
        if patience_s is not None:
            await asyncio.wait([self.ended], timeout=patience_s)
            self.ask_to_stop()
        return await asyncio.shield(self.ended)


async def start_server(options: Sequence[str]) -> tuple[Child, str]:
    """Start `towline server` and wait until it answers. Gives back the child and the address it listens on.

    Raises CliError if it ends before that; it has said why then.
    """
    read_end, write_end = os.pipe()
    try:
        child = await Child.start(["server", *options, "--ready-file", f"/dev/fd/{write_end}"], pass_fds=[write_end])
    finally:
        os.close(write_end)
    try:
        with os.fdopen(read_end, "rb") as pipe:
            address = (await asyncio.to_thread(pipe.readline)).decode().strip()
    except asyncio.CancelledError:
        child.ask_to_stop()
        raise
    if not address:
        await child.ended
        raise CliError("the server did not start: see its message above")
    return child, address

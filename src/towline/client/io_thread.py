"""The thread on which a process talks to servers."""

import asyncio
import threading
from typing import Any, Final


class IoThread:
    """A thread with an event loop of its own, alive while somebody holds it.

    A daemon: a process that forgets to close its connections still ends.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._holders = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def holders(self) -> int:
        """How many hold it."""
        return self._holders

    def acquire(self) -> asyncio.AbstractEventLoop:
        """Hold the thread, starting it if nobody did; its loop."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._loop.set_exception_handler(_handle_exception)
                self._thread = threading.Thread(target=_run, args=(self._loop,), name=self._name, daemon=True)
                self._thread.start()
            self._holders += 1
            return self._loop

    def release(self) -> None:
        """Let go, once per `acquire`. When the last holder does, the thread ends after what it does at that moment."""
        with self._lock:
            self._holders -= 1
            if self._holders > 0 or self._loop is None:
                return
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = None
            self._thread = None


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


def _handle_exception(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    # Where a process has another loop with gRPC on it (a server in a test, say), gRPC wakes both for every event, and
    # complains about the one that found nothing left to read.
    if not isinstance(context.get("exception"), BlockingIOError):
        loop.default_exception_handler(context)


# One per process: gRPC keeps one completion queue per process, and serves several loops badly.
SHARED: Final = IoThread("towline-io")

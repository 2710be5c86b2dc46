"""Work handed from any thread to an event loop, many pieces per wake-up."""

import asyncio
from collections import deque
from collections.abc import Callable


class Handover:
    """Calls on `loop` what any thread posts, in the order of posting.

    Waking another thread's loop costs a system call and a switch of threads; whatever is posted before the loop gets to
    it shares one wake-up.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._posted: deque[Callable[[], None]] = deque()
        self._woken = False

    def post(self, call: Callable[[], None]) -> None:
        """Have it called on the loop. Dropped if the loop is closed: nobody is left to notice."""
        self._posted.append(call)
        if not self._woken:
            self._wake()

    def _wake(self) -> None:
        self._woken = True
        try:
            if asyncio._get_running_loop() is self._loop:
                self._loop.call_soon(self._call)
            else:
                self._loop.call_soon_threadsafe(self._call)
        except RuntimeError:
            self._posted.clear()
            self._woken = False

    def _call(self) -> None:
        # First: whatever is posted from here on, and comes too late for the loop below, wakes the loop again.
        self._woken = False
        try:
            while self._posted:
                self._posted.popleft()()
        finally:
            if self._posted:  # a call raised; the event loop reports that, and the others get their turn
                self._wake()

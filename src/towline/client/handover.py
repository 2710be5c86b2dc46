"""Work from other event loops, handed over in batches: waking a loop costs more than what it is woken for."""

import asyncio
import weakref
from collections import deque
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Inbox:
    """Callbacks for one loop, from any thread. However many are put in before the loop looks, it is woken once."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._callbacks: deque[Callable[[], object]] = deque()
        self._woken = False

    def put(self, callback: Callable[[], object]) -> None:
        """Have it called on the loop; it must not raise. Dropped if the loop is closed: nobody is left to notice."""
        self._callbacks.append(callback)
        if self._woken:
            return
        self._woken = True
        try:
            self._loop.call_soon_threadsafe(self._empty)
        except RuntimeError:
            self._callbacks.clear()
            self._woken = False

    def _empty(self) -> None:
        # In this order: who puts in after the loop below has looked finds `_woken` False, and wakes again.
        self._woken = False
        while self._callbacks:
            self._callbacks.popleft()()


class Handover:
    """Runs coroutines on `loop` for callers on other loops."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._inbox = Inbox(loop)
        self._outboxes: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Inbox] = weakref.WeakKeyDictionary()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run it there and wait for it here. Cancelling the wait cancels the coroutine.

        Raises RuntimeError if that loop is closed.
        """
        if self._loop.is_closed():
            work.close()
            raise RuntimeError("the event loop of this connection is closed: open a new connection")
        here = asyncio.get_running_loop()
        outbox = self._outboxes.get(here)
        if outbox is None:
            outbox = self._outboxes[here] = Inbox(here)
        errand: Errand[T] = Errand(work, here.create_future(), outbox)
        self._inbox.put(errand.begin)
        try:
            return await errand.result
        except asyncio.CancelledError:
            self._inbox.put(errand.cancel)
            raise


class Errand(Generic[T]):
    """One coroutine on its way: begun there, its outcome brought back to the future `result` here."""

    def __init__(self, work: Coroutine[Any, Any, T], result: "asyncio.Future[T]", outbox: Inbox) -> None:
        self.result = result
        self._work = work
        self._outbox = outbox
        self._task: asyncio.Task[T] | None = None

    def begin(self) -> None:
        """On the loop there."""
        self._task = asyncio.get_running_loop().create_task(self._work)
        self._task.add_done_callback(self._bring_back)

    def cancel(self) -> None:
        """On the loop there."""
        if self._task is not None:
            self._task.cancel()

    def _bring_back(self, task: "asyncio.Task[T]") -> None:
        if task.cancelled():
            self._outbox.put(self.result.cancel)
        elif error := task.exception():
            self._outbox.put(partial(self._fail, error))
        else:
            self._outbox.put(partial(self._succeed, task.result()))

    def _succeed(self, value: T) -> None:
        if not self.result.done():
            self.result.set_result(value)

    def _fail(self, error: BaseException) -> None:
        if not self.result.done():
            self.result.set_exception(error)

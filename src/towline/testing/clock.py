"""A clock that stands still until a test moves it."""

import asyncio
import heapq
import itertools
from collections.abc import Callable


class FakeTimer:
    """A callback that waits for its time. Ordered by due time, then by when it was set."""

    __slots__ = ("_clock", "callback", "cancelled", "delay_ms", "due_ms", "order")

    def __init__(self, clock: "FakeClock", order: int, *, delay_ms: int, callback: Callable[[], None]) -> None:
        self._clock = clock
        self.order = order
        self.delay_ms = delay_ms
        self.due_ms = clock.elapsed_ms + delay_ms
        self.callback = callback
        self.cancelled = False

    def __lt__(self, other: "FakeTimer") -> bool:
        return (self.due_ms, self.order) < (other.due_ms, other.order)

    def cancel(self) -> None:
        """The callback will not be called. Does nothing once it was."""
        if not self.cancelled:
            self.cancelled = True
            self._clock.forget_one()


class FakeClock:
    """Implements `towline.clock.Clock`, in milliseconds. Use it on one event loop only.

    Time moves in `advance` alone, so code that sleeps on this clock wakes exactly when a test says so. A test first
    waits until the code has gone to sleep (`wait_for_timers`, `wait_for_timer`), then advances.
    """

    def __init__(self, start_ms: int = 0) -> None:
        self.elapsed_ms = 0
        self._start_ms = start_ms
        self._jump_ms = 0
        self._orders = itertools.count()
        self._timers: list[FakeTimer] = []
        self._dead = 0
        self._waiters: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01 UTC, as far as this clock is concerned."""
        return self._start_ms + self.elapsed_ms + self._jump_ms

    def jump(self, ms: int) -> None:
        """Set the wall clock forward or back, as NTP would: no timer notices."""
        self._jump_ms += ms

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> FakeTimer:
        """Call back in the `advance` that reaches the delay."""
        timer = FakeTimer(self, next(self._orders), delay_ms=max(0, delay_ms), callback=callback)
        heapq.heappush(self._timers, timer)
        self._tell_waiters()
        return timer

    async def sleep(self, delay_ms: int) -> None:
        """Come back after the delay; at once, though not before other tasks ran, if it is zero or less."""
        if delay_ms <= 0:
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()
        timer = self.call_later(delay_ms, lambda: None if woken.done() else woken.set_result(None))
        try:
            await woken
        finally:
            timer.cancel()

    def advance(self, ms: int) -> None:
        """Move time on, calling back whatever falls due, in order of due time, each at its own time.

        A callback that sets a timer within the span sees that one called too. Tasks that a callback wakes run only when
        the test next awaits: where they are to set timers inside the span, advance in steps and wait in between.
        """
        end_ms = self.elapsed_ms + ms
        while self._timers and self._timers[0].due_ms <= end_ms:
            timer = heapq.heappop(self._timers)
            if timer.cancelled:
                self._dead -= 1
                continue
            timer.cancelled = True
            self.elapsed_ms = max(self.elapsed_ms, timer.due_ms)
            timer.callback()
        self.elapsed_ms = end_ms

    def timers(self) -> list[int]:
        """The delays, in milliseconds, with which the waiting timers were set; the next one due first."""
        return [timer.delay_ms for timer in sorted(self._timers) if not timer.cancelled]

    def next_due_ms(self) -> int | None:
        """When the next timer fires, in `elapsed_ms`; None: no timer is set."""
        while self._timers and self._timers[0].cancelled:
            heapq.heappop(self._timers)
            self._dead -= 1
        return self._timers[0].due_ms if self._timers else None

    async def wait_for_timers(self, count: int = 1) -> None:
        """Come back as soon as at least `count` timers are waiting."""
        await self._wait(lambda: len(self.timers()) >= count)

    async def wait_for_timer(self, delay_ms: int, *, count: int = 1) -> None:
        """Come back as soon as `count` timers that were set with exactly this delay are waiting."""
        await self._wait(lambda: self.timers().count(delay_ms) >= count)

    def forget_one(self) -> None:
        """A timer was cancelled. The dead are swept out once they are the larger part, so that they cannot pile up."""
        self._dead += 1
        if self._dead * 2 > len(self._timers):
            self._timers = [timer for timer in self._timers if not timer.cancelled]
            heapq.heapify(self._timers)
            self._dead = 0

    async def _wait(self, condition: Callable[[], bool]) -> None:
        if condition():
            return
        reached = asyncio.get_running_loop().create_future()
        self._waiters.append((condition, reached))
        await reached

    def _tell_waiters(self) -> None:
        waiting = []
        for condition, reached in self._waiters:
            if reached.done():
                continue
            if condition():
                reached.set_result(None)
            else:
                waiting.append((condition, reached))
        self._waiters = waiting

"""Threads for code that blocks."""

import threading
from collections.abc import Callable
from queue import SimpleQueue


class Threads:
    """Runs calls in threads, a new one whenever none is idle, `maximum` at most.

    The threads are daemons: code that ignores its cancellation forever must not keep the process from ending, which
    the standard library's pool would let it.
    """

    def __init__(self, name: str, *, maximum: int) -> None:
        self._name = name
        self._maximum = maximum
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._started = 0
        self._unclaimed = 0  # idle threads, less the calls that wait in the queue

    def submit(self, call: Callable[[], None]) -> None:
        """Have it called in a thread. It must raise nothing."""
        with self._lock:
            self._unclaimed -= 1
            if self._unclaimed < 0 and self._started < self._maximum:
                self._started += 1
                self._unclaimed += 1
                name = f"{self._name}-{self._started}"
                threading.Thread(target=self._work, name=name, daemon=True).start()
        self._calls.put(call)

    def close(self) -> None:
        """Let the threads end as soon as they have nothing to do."""
        for _ in range(self._started):
            self._calls.put(None)

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            call()
            with self._lock:
                self._unclaimed += 1

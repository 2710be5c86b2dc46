"""SIGTERM and Ctrl-C, counted."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@contextmanager
def on_stop_signal(callback: Callable[[int], None]) -> Iterator[None]:
    """Inside the block, call back on the running loop at each stop signal: with 1 at the first one, then 2, and so on.

    A process stops gently at the first one; the second one is a person, or a supervisor, losing patience.
    """
    loop = asyncio.get_running_loop()
    count = 0

    def arrived() -> None:
        nonlocal count
        count += 1
        callback(count)

    for number in _SIGNALS:
        loop.add_signal_handler(number, arrived)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)

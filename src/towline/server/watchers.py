"""Those who wait for a run to get further."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from towline.store.api import RunRow


@dataclass(eq=False, slots=True)
class Watcher:
    """One that waits until the run is as far as it wants."""

    enough: Callable[[RunRow], bool]
    future: "asyncio.Future[RunRow | None]"


class Watchers:
    """Watchers by run. Register first, then look: what is committed in between is not missed."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Watcher]] = {}
        self._closed = False

    @contextmanager
    def watch(self, run_id: str, enough: Callable[[RunRow], bool]) -> Iterator["asyncio.Future[RunRow | None]"]:
        """A future that gets the run's row at the next commit after which it is `enough`, or None: the server stops."""
        watcher = Watcher(enough, asyncio.get_running_loop().create_future())
        if self._closed:
            watcher.future.set_result(None)
        self._waiting.setdefault(run_id, []).append(watcher)
        try:
            yield watcher.future
        finally:
            waiting = self._waiting[run_id]
            waiting.remove(watcher)
            if not waiting:
                del self._waiting[run_id]

    def committed(self, row: RunRow) -> None:
        """The run got further."""
        for watcher in self._waiting.get(row.run_id, ()):
            if not watcher.future.done() and watcher.enough(row):
                watcher.future.set_result(row)

    def close(self) -> None:
        """Let everybody go."""
        self._closed = True
        for waiting in self._waiting.values():
            for watcher in waiting:
                if not watcher.future.done():
                    watcher.future.set_result(None)

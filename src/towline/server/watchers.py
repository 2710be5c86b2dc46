"""Those who wait for a run to get further."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from towline.store.api import RunRow


class Watchers:
    """Futures by run. Register first, then look: what is committed in between is not missed."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Future[RunRow | None]]] = {}
        self._closed = False

    @contextmanager
    def watch(self, run_id: str) -> Iterator["asyncio.Future[RunRow | None]"]:
        """A future that gets the run's row at its next commit, or None when the server stops."""
        future: asyncio.Future[RunRow | None] = asyncio.get_running_loop().create_future()
        if self._closed:
            future.set_result(None)
        waiting = self._waiting.setdefault(run_id, set())
        waiting.add(future)
        try:
            yield future
        finally:
            waiting.discard(future)
            if not waiting and self._waiting.get(run_id) is waiting:
                del self._waiting[run_id]

    def committed(self, row: RunRow) -> None:
        """The run got further."""
        for future in self._waiting.pop(row.run_id, ()):
            if not future.done():
                future.set_result(row)

    def close(self) -> None:
        """Let everybody go."""
        self._closed = True
        for futures in self._waiting.values():
            for future in futures:
                if not future.done():
                    future.set_result(None)

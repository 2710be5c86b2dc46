"""Group commit: whatever waits when the store becomes idle goes into the next transaction together."""

import asyncio
from collections.abc import Sequence

from towline.store.api import Batch, Store, StoreError

Waiting = tuple[Batch, asyncio.Future[bool]]


class GroupCommit:
    """Joins the batches of many callers into groups. It never waits for more of them (law 4).

    The order of `commit` calls is the order of the batches. Belongs to the event loop that it is used on.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[Waiting] = []
        self._writing: asyncio.Task[None] | None = None
        self._closed = False

    async def commit(self, batch: Batch) -> bool:
        """True: durably written; False: conflict, and nothing of it was. Raises StoreError as `Store.commit` does.

        A caller that is cancelled meanwhile does not take its batch back: it will be judged as any other.
        """
        if self._closed:
            raise StoreError("a batch came after the store was closed: nothing was written, open the store again")
        written: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((batch, written))
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write_groups())
        return await written

    async def close(self) -> None:
        """Refuse what comes from now on, and wait until all that came is done. May be called twice."""
        self._closed = True
        if self._writing is not None:
            await asyncio.shield(self._writing)

    async def _write_groups(self) -> None:
        try:
            while self._waiting:
                group, self._waiting = self._waiting, []
                await self._write(group)
        finally:  # with callers left only if the event loop is being shut down
            for _, written in self._waiting:
                written.cancel()
            self._waiting = []
            self._writing = None

    async def _write(self, group: Sequence[Waiting]) -> None:
        try:
            results = await self._store.commit([batch for batch, _ in group])
        except Exception as error:
            for _, written in group:
                _fail(written, error)
        except asyncio.CancelledError:
            for _, written in group:
                written.cancel()
            raise
        else:
            for (_, written), result in zip(group, results, strict=True):
                if not written.done():
                    written.set_result(result)


def _fail(written: asyncio.Future[bool], error: Exception) -> None:
    if written.done():
        return
    if isinstance(error, StoreError):
        # Each caller gets an error of its own: raised in many places, a shared one would mix up their tracebacks.
        own = StoreError(str(error))
        own.__cause__ = error
        error = own
    written.set_exception(error)

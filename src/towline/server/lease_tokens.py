"""Where lease tokens come from: blocks that the store sets aside, so that no two servers hand out the same one."""

import asyncio

from towline.store.api import Store


class LeaseTokens:
    """A rising sequence of tokens for this process."""

    def __init__(self, store: Store, *, block: int) -> None:
        self._store = store
        self._block = block
        self._next = 0
        self._end = 0
        self._refill = asyncio.Lock()

    async def ensure(self, count: int) -> None:
        """See to it that the next `count` calls of `take` succeed, if nothing else is awaited in between."""
        while self._end - self._next < count:
            async with self._refill:
                if self._end - self._next < count:
                    block = max(self._block, count)
                    self._next = await self._store.reserve_lease_tokens(block)
                    self._end = self._next + block

    def take(self) -> int:
        """The next token."""
        assert self._next < self._end, "LeaseTokens.ensure was not called"
        self._next += 1
        return self._next - 1

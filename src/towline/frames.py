"""Batching for the Attach streams: whatever became ready while the wire was busy travels together."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from towline import limits

F = TypeVar("F")


class FrameQueue(Generic[F]):
    """Frames that wait to be written, filled by many and taken by one writer on the same event loop.

    The writer is woken once per turn of the loop, so everything that is put in during one turn, or during one write,
    is in one frame. A frame holds `limits.ATTACH_FRAME_SIZE_BYTES` at most, or one piece that is larger.
    """

    def __init__(self, new_frame: Callable[[], F]) -> None:
        self._new_frame = new_frame
        self._frames: deque[F] = deque()
        self._room_bytes = 0  # what still fits the newest frame
        self._ended = False
        self._writer: asyncio.Future[None] | None = None

    def frame_for(self, size_bytes: int) -> F:
        """The frame that a piece of this size is to be put into, now."""
        if not self._frames or size_bytes > self._room_bytes:
            self._frames.append(self._new_frame())
            self._room_bytes = limits.ATTACH_FRAME_SIZE_BYTES
        self._room_bytes -= size_bytes
        self._wake()
        return self._frames[-1]

    def end(self) -> None:
        """Nothing more will be put in; the writer gets what is there and then None."""
        self._ended = True
        self._wake()

    async def take(self) -> F | None:
        """The oldest frame, waiting for one; None: the queue has ended."""
        while not self._frames:
            if self._ended:
                return None
            self._writer = asyncio.get_running_loop().create_future()
            await self._writer
        return self._frames.popleft()

    def _wake(self) -> None:
        if self._writer is not None and not self._writer.done():
            self._writer.set_result(None)

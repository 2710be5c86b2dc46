"""Batching for the Attach streams: whatever became ready while the wire was busy travels together."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from towline import limits

P = TypeVar("P")

# What a piece adds to its own data: its id, its method's name, the tags between them.
PIECE_OVERHEAD_BYTES: Final = 64


class FrameQueue(Generic[P]):
    """Pieces that wait to be written, put in by many and taken by one writer on the same event loop.

    A frame is made only when the wire is free for it: until then a piece may be dropped. The writer is woken once per
    turn of the loop, so everything that is put in during one turn, or during one write, is in one frame, up to
    `limits.ATTACH_FRAME_SIZE_BYTES`; one piece that is larger has a frame of its own. `size_bytes` tells how much data
    a piece carries.
    """

    def __init__(self, size_bytes: Callable[[P], int]) -> None:
        self._size_bytes = size_bytes
        self._pieces: OrderedDict[int, P] = OrderedDict()
        self._ended = False
        self._writer: asyncio.Future[None] | None = None

    def put(self, key: int, piece: P) -> None:
        """Have it written after what is there already. `key` is unlike those of all pieces that wait."""
        self._pieces[key] = piece
        self._wake()

    def drop(self, key: int) -> P | None:
        """Forget a piece, and give it back; None: it does not wait, it may have been taken."""
        return self._pieces.pop(key, None)

    def end(self) -> None:
        """Nothing more will be put in; the writer gets what is there and then None."""
        self._ended = True
        self._wake()

    async def take(self) -> list[P] | None:
        """The oldest pieces, as many as fit a frame, waiting for one; None: the queue has ended."""
        while not self._pieces:
            if self._ended:
                return None
            self._writer = asyncio.get_running_loop().create_future()
            await self._writer
        return self._fill()

    def _fill(self) -> list[P]:
        taken: list[P] = []
        room_bytes = limits.ATTACH_FRAME_SIZE_BYTES
        while self._pieces:
            key, piece = self._pieces.popitem(last=False)
            size_bytes = self._size_bytes(piece) + PIECE_OVERHEAD_BYTES
            if taken and size_bytes > room_bytes:
                self._pieces[key] = piece
                self._pieces.move_to_end(key, last=False)
                break
            taken.append(piece)
            room_bytes -= size_bytes
        return taken

    def _wake(self) -> None:
        if self._writer is not None and not self._writer.done():
            self._writer.set_result(None)

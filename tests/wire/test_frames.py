"""The queue under both ends of an Attach stream."""

import asyncio

from towline import limits
from towline.frames import PIECE_OVERHEAD_BYTES, FrameQueue


def filled(*sizes_bytes: int) -> FrameQueue[int]:
    """With pieces 1, 2, …, each as large, with its overhead, as is said."""
    queue: FrameQueue[int] = FrameQueue(lambda piece: sizes_bytes[piece - 1] - PIECE_OVERHEAD_BYTES)
    for piece in range(1, len(sizes_bytes) + 1):
        queue.put(piece, piece)
    return queue


async def test_pieces_share_a_frame_until_it_is_full() -> None:
    queue = filled(limits.ATTACH_FRAME_SIZE_BYTES - 100, 100, 100)
    assert (await queue.take(), await queue.take()) == ([1, 2], [3])


async def test_a_piece_larger_than_a_frame_has_one_of_its_own() -> None:
    queue = filled(100, limits.ATTACH_FRAME_SIZE_BYTES + 1, 100)
    assert [await queue.take() for _ in range(3)] == [[1], [2], [3]]


async def test_pieces_without_data_fill_a_frame_too() -> None:
    queue = filled(*[PIECE_OVERHEAD_BYTES] * 100_000)
    assert len(await queue.take() or []) == limits.ATTACH_FRAME_SIZE_BYTES // PIECE_OVERHEAD_BYTES


async def test_whoever_waits_gets_all_that_is_put_in_during_one_turn() -> None:
    queue: FrameQueue[str] = FrameQueue(len)
    taking = asyncio.create_task(queue.take())
    await asyncio.sleep(0)
    queue.put(1, "a")
    queue.put(2, "b")
    assert await taking == ["a", "b"]


async def test_what_is_dropped_is_not_taken_and_what_was_taken_is_not_dropped() -> None:
    queue = filled(100, 100)
    assert queue.drop(1) == 1
    assert await queue.take() == [2]
    assert queue.drop(2) is None


async def test_a_writer_that_was_woken_for_what_was_dropped_waits_on() -> None:
    queue: FrameQueue[str] = FrameQueue(len)
    taking = asyncio.create_task(queue.take())
    await asyncio.sleep(0)
    queue.put(1, "a")
    queue.drop(1)
    await asyncio.sleep(0)
    queue.put(2, "b")
    assert await taking == ["b"]


async def test_after_the_end_what_is_left_comes_first() -> None:
    queue = filled(100)
    queue.end()
    assert (await queue.take(), await queue.take()) == ([1], None)


async def test_the_end_wakes_whoever_waits() -> None:
    queue: FrameQueue[str] = FrameQueue(len)
    taking = asyncio.create_task(queue.take())
    await asyncio.sleep(0)
    queue.end()
    assert await taking is None

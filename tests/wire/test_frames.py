"""The queue under both ends of an Attach stream."""

import asyncio

from towline import limits
from towline.frames import FrameQueue


async def test_pieces_share_a_frame_until_it_is_full() -> None:
    queue: FrameQueue[list[str]] = FrameQueue(list)
    queue.frame_for(limits.ATTACH_FRAME_SIZE_BYTES - 1).append("large")
    queue.frame_for(1).append("fits")
    queue.frame_for(1).append("next")
    assert (await queue.take(), await queue.take()) == (["large", "fits"], ["next"])


async def test_a_piece_larger_than_a_frame_has_one_of_its_own() -> None:
    queue: FrameQueue[list[str]] = FrameQueue(list)
    queue.frame_for(10).append("small")
    queue.frame_for(limits.ATTACH_FRAME_SIZE_BYTES + 1).append("huge")
    queue.frame_for(10).append("after")
    assert [await queue.take() for _ in range(3)] == [["small"], ["huge"], ["after"]]


async def test_whoever_waits_gets_all_that_is_put_in_during_one_turn() -> None:
    queue: FrameQueue[list[str]] = FrameQueue(list)
    taking = asyncio.create_task(queue.take())
    await asyncio.sleep(0)
    queue.frame_for(1).append("a")
    queue.frame_for(1).append("b")
    assert await taking == ["a", "b"]


async def test_after_the_end_what_is_left_comes_first() -> None:
    queue: FrameQueue[list[str]] = FrameQueue(list)
    queue.frame_for(1).append("last")
    queue.end()
    assert (await queue.take(), await queue.take()) == (["last"], None)


async def test_the_end_wakes_whoever_waits() -> None:
    queue: FrameQueue[list[str]] = FrameQueue(list)
    taking = asyncio.create_task(queue.take())
    await asyncio.sleep(0)
    queue.end()
    assert await taking is None

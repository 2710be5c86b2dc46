"""A busy event loop lets the store's threads run."""

import asyncio
import select
from typing import Any

import pytest

from towline.store.sqlite.give_way import PAUSE_SECONDS, GiveWay


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> "asyncio.Queue[float]":
    """The pauses that the loop makes."""
    made: asyncio.Queue[float] = asyncio.Queue()

    def pause(*arguments: Any) -> tuple[list[int], list[int], list[int]]:
        made.put_nowait(arguments[3])
        return [], [], []

    monkeypatch.setattr(select, "select", pause)
    return made


async def test_the_loop_pauses_again_and_again_while_a_thread_works(pauses: "asyncio.Queue[float]") -> None:
    with GiveWay().to_threads():
        assert [await pauses.get() for _ in range(3)] == [PAUSE_SECONDS] * 3


async def test_it_stops_when_nobody_waits_any_more(pauses: "asyncio.Queue[float]") -> None:
    give_way = GiveWay()
    with give_way.to_threads():
        with give_way.to_threads():
            await pauses.get()
        assert await pauses.get() == PAUSE_SECONDS
    assert give_way._next_pause is None
    assert pauses.empty()


async def test_it_begins_again(pauses: "asyncio.Queue[float]") -> None:
    give_way = GiveWay()
    for _ in range(2):
        with give_way.to_threads():
            assert await pauses.get() == PAUSE_SECONDS

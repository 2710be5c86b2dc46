"""Polls that are reserved for a task whose commit is under way, when everybody is sent home."""

import asyncio

import pytest

from towline.server.matching import Matching, Poller
from towline.store.memory import MemoryStore
from towline.testing.clock import FakeClock

QUEUE = ("default", "wf:orders")


@pytest.mark.parametrize("stop", ["worker", "server"])
async def test_reserved_poll_does_not_wait_on_for_a_worker_that_stopped(clock: FakeClock, stop: str) -> None:
    matching = Matching(MemoryStore(), clock=clock, ready_limit=10)
    poller = Poller("me", "mine", asyncio.get_running_loop().create_future())
    with matching.polled(*QUEUE) as queue:
        matching.wait(queue, poller)
        assert matching.take_poller(*QUEUE) is poller
        if stop == "worker":
            matching.stop_worker("mine")
        else:
            matching.close()
        assert not poller.answer.done(), "its commit may still bring it a task"
        matching.put_back(*QUEUE, poller)
        assert poller.answer.result() is None
        assert not queue.pollers


async def test_reserved_poll_goes_back_to_the_head_of_the_line(clock: FakeClock) -> None:
    matching = Matching(MemoryStore(), clock=clock, ready_limit=10)
    pollers = [Poller("me", "mine", asyncio.get_running_loop().create_future()) for _ in range(3)]
    with matching.polled(*QUEUE) as queue:
        for poller in pollers:
            matching.wait(queue, poller)
        first = matching.take_poller(*QUEUE)
        assert first is pollers[0]
        matching.put_back(*QUEUE, first)
        assert [matching.take_poller(*QUEUE) for _ in range(4)] == [*pollers, None]

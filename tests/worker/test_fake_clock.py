"""The clock that all other tests lean on."""

import asyncio

from towline.testing.clock import FakeClock
from towline.testing.ids import SequenceIds


def test_callbacks_run_in_order_of_their_time() -> None:
    clock = FakeClock(start_ms=100)
    seen: list[tuple[str, int]] = []
    for name, delay_ms in (("late", 30), ("first", 10), ("second", 10), ("never", 31)):
        clock.call_later(delay_ms, lambda name=name: seen.append((name, clock.now_ms())))  # type: ignore[misc]
    clock.advance(30)
    assert seen == [("first", 110), ("second", 110), ("late", 130)]
    assert clock.timers() == [31]


def test_timers_set_by_callbacks_fire_within_the_span() -> None:
    clock = FakeClock()
    seen: list[int] = []

    def tick() -> None:
        seen.append(clock.now_ms())
        clock.call_later(10, tick)

    clock.call_later(10, tick)
    clock.advance(35)
    assert seen == [10, 20, 30]
    assert clock.now_ms() == 35
    assert clock.next_due_ms() == 40


def test_cancelled_timers_do_not_fire_and_do_not_pile_up() -> None:
    clock = FakeClock()
    seen: list[int] = []
    kept = clock.call_later(5, lambda: seen.append(5))
    for _ in range(1_000):
        clock.call_later(1, lambda: seen.append(1)).cancel()
    assert clock.timers() == [5]
    assert len(clock._timers) < 10
    clock.advance(10)
    kept.cancel()
    assert seen == [5]


def test_a_jump_moves_the_wall_clock_and_no_timer() -> None:
    clock = FakeClock(start_ms=1_000)
    seen: list[int] = []
    clock.call_later(10, lambda: seen.append(clock.now_ms()))
    clock.jump(-500)
    assert clock.now_ms() == 500
    clock.advance(9)
    assert seen == []
    clock.advance(1)
    assert seen == [510]


async def test_sleepers_wake_when_time_comes() -> None:
    clock = FakeClock()
    sleeper = asyncio.create_task(clock.sleep(50))
    await clock.wait_for_timer(50)
    clock.advance(49)
    await asyncio.sleep(0)
    assert not sleeper.done()
    clock.advance(1)
    await sleeper
    assert clock.timers() == []


async def test_cancelled_sleepers_leave_no_timer() -> None:
    clock = FakeClock()
    sleeper = asyncio.create_task(clock.sleep(50))
    await clock.wait_for_timers()
    sleeper.cancel()
    await asyncio.gather(sleeper, return_exceptions=True)
    assert clock.timers() == []


async def test_waiting_for_so_many_timers() -> None:
    clock = FakeClock()
    waiting = asyncio.create_task(clock.wait_for_timers(2))
    clock.call_later(1, lambda: None)
    await asyncio.sleep(0)
    assert not waiting.done()
    clock.call_later(1, lambda: None)
    await waiting
    assert clock.timers() == [1, 1]


def test_ids_count_up() -> None:
    ids = SequenceIds("run")
    assert [ids.new_id(), ids.new_id()] == ["run-1", "run-2"]
    assert SequenceIds().new_id() == "run-1"

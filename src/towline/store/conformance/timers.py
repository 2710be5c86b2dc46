"""Timers."""

from towline.store.api import Store
from towline.store.conformance.rows import more_events, new_run, timer_row


class TimerConformance:
    """What the store promises of timers."""

    async def test_due_timers_come_by_time_run_and_timer_id(self, store: Store) -> None:
        timers = [
            timer_row("run-9", "c", 100),
            timer_row("run-1", "b", 200),
            timer_row("run-2", "a", 200),
            timer_row("run-2", "b", 200, workflow_id="order-2", namespace="other"),
            timer_row("run-1", "a", 201),
        ]
        batch = new_run()
        batch.timers_set = list(reversed(timers))
        assert await store.commit([batch]) == [True]
        assert await store.due_timers(200, 10) == timers[:4]
        assert await store.due_timers(199, 10) == timers[:1]
        assert await store.due_timers(1_000, 3) == timers[:3]
        assert await store.due_timers(99, 10) == []

    async def test_a_timer_that_is_set_again_moves(self, store: Store) -> None:
        batch = new_run()
        batch.timers_set = [timer_row("run-1", "a", 100)]
        move = more_events(batch.run, 1)
        move.timers_set = [moved := timer_row("run-1", "a", 300)]
        assert await store.commit([batch]) == [True]
        assert await store.commit([move]) == [True]
        assert await store.due_timers(299, 10) == []
        assert await store.due_timers(300, 10) == [moved]

    async def test_a_timer_that_is_cleared_is_gone(self, store: Store) -> None:
        batch = new_run()
        batch.timers_set = [timer_row("run-1", "a", 100), kept := timer_row("run-1", "b", 100)]
        clear = more_events(batch.run, 1)
        clear.timers_cleared = [("run-1", "a")]
        assert await store.commit([batch]) == [True]
        assert await store.commit([clear]) == [True]
        assert await store.due_timers(1_000, 10) == [kept]

    async def test_clearing_a_timer_that_is_not_set_does_nothing(self, store: Store) -> None:
        batch = new_run()
        batch.timers_cleared = [("run-1", "a"), ("run-7", "b")]
        assert await store.commit([batch]) == [True]
        assert await store.due_timers(1_000, 10) == []

    async def test_timers_are_set_cleared_and_set_within_a_group(self, store: Store) -> None:
        first = new_run()
        first.timers_set = [timer_row("run-1", "a", 100), timer_row("run-1", "b", 100)]
        second = more_events(first.run, 1)
        second.timers_cleared = [("run-1", "a"), ("run-1", "b")]
        third = more_events(second.run, 1)
        third.timers_set = [again := timer_row("run-1", "a", 400)]
        assert await store.commit([first, second, third]) == [True] * 3
        assert await store.due_timers(1_000, 10) == [again]

"""Batches: whole or not at all, each judged on what came before it."""

from dataclasses import replace

from towline.store.api import Batch, Store
from towline.store.conformance.contents import contents, stored
from towline.store.conformance.rows import blob, closing, more_events, new_run, task_row, timer_row


def loaded_batch(batch: Batch) -> Batch:
    """The same with a new task and a new timer, which must not be stored if it conflicts."""
    batch.tasks_put.append(task_row(batch.run.run_id, 77))
    batch.timers_set.append(timer_row(batch.run.run_id, "timer/77"))
    return batch


class CommitConformance:
    """What `commit` promises."""

    async def test_no_batches_no_results(self, store: Store) -> None:
        assert await store.commit([]) == []

    async def test_a_new_run_is_stored_whole(self, store: Store) -> None:
        batch = new_run(last_event_id=3)
        task, timer = task_row("run-1", details=b"\x00details"), timer_row("run-1")
        batch.tasks_put, batch.timers_set = [task], [timer]
        assert await store.commit([batch]) == [True]
        run = await stored(store, "run-1")
        assert (run.row, run.blobs, run.tasks) == (batch.run, [batch.events], [task])
        assert await store.due_timers(timer.fire_at_ms, 10) == [timer]

    async def test_the_next_batch_adds_events_and_changes_the_row(self, store: Store) -> None:
        first = new_run()
        second = more_events(first.run, 3, history_size_bytes=222)
        third = closing(second.run)
        for batch in (first, second, third):
            assert await store.commit([batch]) == [True]
        run = await stored(store, "run-1")
        assert run.row == third.run
        assert run.blobs == [blob("run-1", 1, 2), blob("run-1", 3, 5), blob("run-1", 6, 6)]

    async def test_a_batch_without_events_is_compared_and_raises_the_revision_all_the_same(self, store: Store) -> None:
        first = new_run()
        first.tasks_put = [task := task_row("run-1")]
        silent, late = more_events(first.run, 0), more_events(first.run, 0)
        silent.tasks_put = [counted := replace(task, attempt=2)]
        late.tasks_put = [replace(task, attempt=7)]
        assert await store.commit([first, silent]) == [True, True]
        assert await store.commit([late]) == [False]
        run = await stored(store, "run-1")
        assert (run.row, run.blobs, run.tasks) == (replace(first.run, revision=2), [first.events], [counted])
        assert await store.find_run("default", "order-1") == run.row

    async def test_a_change_of_rows_alone_outdates_every_other_decision(self, store: Store) -> None:
        """A lease, a failure that is counted, a timer: whoever decided without knowing of it must decide again."""
        batch = new_run()
        batch.tasks_put, batch.timers_set = [task := task_row("run-1")], [timer_row("run-1")]
        assert await store.commit([batch]) == [True]
        for fields in (
            {"tasks_put": [replace(task, lease_token=1, lease_expires_at_ms=9_000)]},
            {"tasks_acked": [task]},
            {"timers_set": [timer_row("run-1", fire_at_ms=3_000)]},
            {"timers_cleared": [("run-1", "timer/5")]},
        ):
            rivals = [loaded_batch(more_events(batch.run, 1)), loaded_batch(more_events(batch.run, 0))]
            batch = replace(more_events(batch.run, 0), **fields)
            assert await store.commit([batch, rivals[0]]) == [True, False]
            before = await contents(store)
            assert await store.commit(rivals) == [False, False]
            assert await contents(store) == before

    async def test_a_run_that_has_moved_on_conflicts_and_nothing_is_written(self, store: Store) -> None:
        first = new_run()
        first.tasks_put, first.timers_set = [task := task_row("run-1")], [timer_row("run-1")]
        assert await store.commit([first, more_events(first.run, 1)]) == [True, True]
        before = await contents(store)
        late = loaded_batch(more_events(first.run, 2))
        late.tasks_acked, late.timers_cleared = [task], [("run-1", "timer/5")]
        assert await store.commit([late]) == [False]
        assert await contents(store) == before

    async def test_a_run_that_is_behind_conflicts(self, store: Store) -> None:
        first = new_run()
        assert await store.commit([first]) == [True]
        before = await contents(store)
        early = loaded_batch(more_events(replace(first.run, revision=2), 1))
        assert await store.commit([early]) == [False]
        assert await contents(store) == before

    async def test_a_run_that_is_not_stored_conflicts(self, store: Store) -> None:
        before = await contents(store)
        assert await store.commit([loaded_batch(more_events(new_run().run, 1))]) == [False]
        assert await contents(store) == before

    async def test_a_run_is_started_once(self, store: Store) -> None:
        first = new_run()
        again = loaded_batch(new_run())
        assert await store.commit([first, again]) == [True, False]
        before = await contents(store)
        elsewhere = loaded_batch(new_run(workflow_id="order-2"))
        assert await store.commit([again, elsewhere]) == [False, False]
        assert await contents(store) == before

    async def test_no_run_is_started_while_the_newest_is_open(self, store: Store) -> None:
        assert await store.commit([new_run("run-1")]) == [True]
        before = await contents(store)
        for replaces in ("", "run-1", "run-2", "run-7"):
            assert await store.commit([loaded_batch(new_run("run-2", replaces_run_id=replaces))]) == [False]
        assert await contents(store) == before

    async def test_a_run_replaces_the_newest_and_only_that(self, store: Store) -> None:
        first, second = new_run("run-1"), new_run("run-2", replaces_run_id="run-1")
        assert await store.commit([first, closing(first.run), second, closing(second.run)]) == [True] * 4
        before = await contents(store)
        for replaces in ("", "run-1", "run-3", "run-7"):
            assert await store.commit([loaded_batch(new_run("run-3", replaces_run_id=replaces))]) == [False]
        assert await contents(store) == before
        assert await store.commit([new_run("run-3", replaces_run_id="run-2")]) == [True]

    async def test_a_first_run_replaces_none(self, store: Store) -> None:
        before = await contents(store)
        assert await store.commit([loaded_batch(new_run("run-1", replaces_run_id="run-0"))]) == [False]
        assert await contents(store) == before

    async def test_a_run_is_closed_by_its_status_even_at_time_zero(self, store: Store) -> None:
        first = new_run("run-1")
        assert await store.commit([first, closing(first.run, 0)]) == [True, True]
        assert await store.commit([new_run("run-2", replaces_run_id="run-1")]) == [True]

    async def test_workflow_ids_of_other_namespaces_are_other_workflows(self, store: Store) -> None:
        assert await store.commit([new_run("run-1"), new_run("run-2", namespace="other")]) == [True, True]

    async def test_a_group_goes_on_with_a_run_it_started(self, store: Store) -> None:
        first = new_run("run-1")
        second = more_events(first.run, 1)
        third = closing(second.run)
        fourth = new_run("run-2", replaces_run_id="run-1")
        assert await store.commit([first, second, third, fourth]) == [True] * 4
        assert (await stored(store, "run-1")).blobs == [first.events, second.events, third.events]
        assert (await stored(store, "run-1")).row == third.run
        assert (await stored(store, "run-2")).row == fourth.run

    async def test_of_two_decisions_on_the_same_state_the_first_of_the_group_wins(self, store: Store) -> None:
        first = new_run()
        assert await store.commit([first]) == [True]
        winner, loser = more_events(first.run, 1), loaded_batch(more_events(first.run, 2))
        assert await store.commit([winner, loser, more_events(winner.run, 1)]) == [True, False, True]
        run = await stored(store, "run-1")
        assert run.blobs == [blob("run-1", 1, 2), blob("run-1", 3, 3), blob("run-1", 4, 4)]
        assert run.tasks == []

    async def test_of_two_starts_in_a_group_the_first_wins(self, store: Store) -> None:
        assert await store.commit([new_run("run-1"), loaded_batch(new_run("run-2"))]) == [True, False]
        assert await store.load_run("run-2") is None
        assert await store.due_timers(10_000, 10) == []

    async def test_a_conflict_leaves_the_rest_of_the_group_alone(self, store: Store) -> None:
        group = [new_run(f"run-{n}", workflow_id=f"order-{n}") for n in range(4)]
        group[1].replaces_run_id = "run-9"
        assert await store.commit(group) == [True, False, True, True]
        assert [await store.load_run(f"run-{n}") is not None for n in range(4)] == [True, False, True, True]

    async def test_large_groups(self, store: Store) -> None:
        starts = [new_run(f"run-{n}", workflow_id=f"order-{n}") for n in range(700)]
        for batch in starts:
            batch.tasks_put = [task_row(batch.run.run_id)]
        ends = [closing(batch.run) for batch in starts]
        ends[400] = closing(ends[400].run)
        for batch, start in zip(ends, starts, strict=True):
            batch.tasks_acked = start.tasks_put
        assert await store.commit(starts) == [True] * 700
        assert await store.commit(ends) == [True] * 400 + [False] + [True] * 299
        assert (await stored(store, "run-400")).tasks == starts[400].tasks_put
        assert (await stored(store, "run-699")).blobs == [blob("run-699", 1, 2), blob("run-699", 3, 3)]
        assert await store.delayed_tasks(0, 10_000, 1_000) == starts[400].tasks_put

    async def test_large_blobs_and_details(self, store: Store) -> None:
        batch = new_run()
        batch.events = bytes(range(256)) * 8 * 1024
        batch.tasks_put = [task_row("run-1", details=bytes(range(256)) * 4 * 1024)]
        assert await store.commit([batch]) == [True]
        run = await stored(store, "run-1")
        assert run.blobs == [batch.events]
        assert run.tasks == batch.tasks_put

    async def test_names_with_any_characters(self, store: Store) -> None:
        for name in ("quote ' \" \\", "null \x00 end", "ünïcödé 🚚", "%_*?", "a/b\n\t", "ي" * 500):
            batch = new_run(name, workflow_id=name, workflow_type=name, start_request_id=name, task_queue=name)
            batch.tasks_put = [task_row(name, workflow_id=name, queue=name)]
            batch.timers_set = [timer_row(name, name, workflow_id=name)]
            assert await store.commit([batch, closing(batch.run)]) == [True, True]
            assert await store.commit([closing(batch.run)]) == [False]
            run = await stored(store, name)
            assert (run.row, run.tasks) == (closing(batch.run).run, batch.tasks_put)
            assert await store.find_run("default", name) == run.row
            assert [hint.task_id for hint in await store.ready_tasks("default", name, 5_000, 9)] == [f"{name}/wt/2"]
            assert batch.timers_set[0] in await store.due_timers(5_000, 9)

    async def test_lease_tokens_are_set_aside_once(self, store: Store) -> None:
        assert [await store.reserve_lease_tokens(count) for count in (1, 10, 1, 5)] == [1, 2, 12, 13]

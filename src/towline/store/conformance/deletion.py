"""Forgetting closed runs."""

from towline.store.api import RunFilter, Store
from towline.store.conformance.contents import contents
from towline.store.conformance.rows import closing, more_events, new_run, task_row, timer_row


class DeletionConformance:
    """What `delete_runs` promises."""

    async def test_a_deleted_run_is_gone_with_all_that_belongs_to_it(self, store: Store) -> None:
        empty = await contents(store)
        first = new_run()
        first.tasks_put, first.timers_set = [task_row("run-1")], [timer_row("run-1")]
        assert await store.commit([first, more_events(first.run, 2)]) == [True, True]
        assert await store.commit([closing(more_events(first.run, 2).run)]) == [True]
        await store.delete_runs(["run-1"])
        assert await contents(store) == empty
        assert await store.load_run("run-1") is None
        assert await store.find_run("default", "order-1") is None
        assert (await store.read_history("run-1", 1, 1_000)).blobs == []
        assert await store.closed_runs(10_000, 10) == []

    async def test_open_runs_and_unknown_ids_are_left_alone(self, store: Store) -> None:
        batch = new_run()
        batch.tasks_put, batch.timers_set = [task_row("run-1")], [timer_row("run-1")]
        assert await store.commit([batch]) == [True]
        before = await contents(store)
        await store.delete_runs(["run-1", "run-7"])
        await store.delete_runs([])
        assert await contents(store) == before

    async def test_other_runs_keep_what_is_theirs(self, store: Store) -> None:
        for run_id in ("run-1", "run-2", "run-3"):
            first = new_run(run_id, workflow_id=run_id)
            first.tasks_put, first.timers_set = [task_row(run_id)], [timer_row(run_id)]
            assert await store.commit([first, closing(first.run)]) == [True, True]
        before = await contents(store)
        await store.delete_runs(["run-2"])
        after = await contents(store)
        assert after.runs == [run for run in before.runs if run is not None and run.row.run_id != "run-2"]
        assert after.unleased == [task for task in before.unleased if task.run_id != "run-2"]
        assert after.timers == [timer for timer in before.timers if timer.run_id != "run-2"]

    async def test_what_remains_of_a_workflow_decides_its_newest_run(self, store: Store) -> None:
        first, second = new_run("run-1"), new_run("run-2", replaces_run_id="run-1")
        assert await store.commit([first, closing(first.run), second, closing(second.run)]) == [True] * 4
        await store.delete_runs(["run-2"])
        newest = await store.find_run("default", "order-1")
        assert newest is not None
        assert newest.run_id == "run-1"
        assert await store.commit([new_run("run-3", replaces_run_id="run-2")]) == [False]
        assert await store.commit([new_run("run-3", replaces_run_id="run-1")]) == [True]

    async def test_a_deleted_run_id_may_be_used_again(self, store: Store) -> None:
        first = new_run()
        assert await store.commit([first, closing(first.run)]) == [True, True]
        await store.delete_runs(["run-1"])
        again = new_run(last_event_id=1)
        assert await store.commit([again]) == [True]
        assert (await store.read_history("run-1", 1, 1_000)).blobs == [again.events]

    async def test_many_runs_at_once(self, store: Store) -> None:
        for start in range(0, 300, 100):
            for number in range(start, start + 100):
                first = new_run(f"run-{number}", workflow_id=f"order-{number}", last_event_id=100)
                end = closing(first.run) if number % 3 else more_events(first.run, 1)
                assert await store.commit([first, end]) == [True, True]
        await store.delete_runs([f"run-{number}" for number in range(300)])
        left = await store.list_runs(RunFilter("default"), 1_000)
        assert sorted(row.run_id for row in left) == sorted(f"run-{number}" for number in range(0, 300, 3))

"""Finding, listing and counting runs."""

from towline.store.api import RunFilter, RunRow, Store
from towline.store.conformance.rows import COMPLETED, FAILED, RUNNING, closing, new_run


async def store_runs(store: Store) -> list[RunRow]:
    """Six runs of three workflows in two namespaces; returned as stored, the newest first."""
    first = new_run("run-c", workflow_id="order-1", start_time_ms=100)
    second = new_run("run-d", workflow_id="order-1", start_time_ms=200, replaces_run_id="run-c")
    third = new_run("run-a", workflow_id="order-2", start_time_ms=200, workflow_type="Refund")
    fourth = new_run("run-b", workflow_id="order-3", start_time_ms=200)
    fifth = new_run("run-e", workflow_id="order-1", start_time_ms=150, replaces_run_id="run-d")
    other = new_run("run-f", workflow_id="order-1", start_time_ms=150, namespace="other")
    ends = [closing(first.run), closing(second.run, status=FAILED), closing(third.run)]
    group = [first, ends[0], second, ends[1], third, ends[2], fourth, fifth, other]
    assert await store.commit(group) == [True] * 9
    return [ends[1].run, fourth.run, ends[2].run, fifth.run, ends[0].run]


class RunConformance:
    """What `find_run`, `load_run`, `list_runs` and `count_runs` promise."""

    async def test_nothing_is_found_in_an_empty_store(self, store: Store) -> None:
        assert await store.find_run("default", "order-1") is None
        assert await store.find_run("default", "order-1", "run-1") is None
        assert await store.load_run("run-1") is None
        assert await store.list_runs(RunFilter("default"), 10) == []
        assert await store.count_runs(RunFilter("default")) == 0

    async def test_the_newest_run_is_the_one_started_last(self, store: Store) -> None:
        await store_runs(store)
        found = await store.find_run("default", "order-1")
        assert found is not None
        assert found.run_id == "run-e"

    async def test_a_run_is_found_by_its_run_id(self, store: Store) -> None:
        rows = {row.run_id: row for row in await store_runs(store)}
        assert await store.find_run("default", "order-1", "run-c") == rows["run-c"]

    async def test_a_run_id_of_another_workflow_or_namespace_is_not_found(self, store: Store) -> None:
        await store_runs(store)
        assert await store.find_run("default", "order-2", "run-c") is None
        assert await store.find_run("other", "order-1", "run-c") is None
        assert await store.find_run("default", "order-1", "run-f") is None
        assert await store.find_run("nowhere", "order-1") is None

    async def test_listings_begin_with_the_newest(self, store: Store) -> None:
        rows = await store_runs(store)
        assert await store.list_runs(RunFilter("default"), 10) == rows
        assert [row.run_id for row in await store.list_runs(RunFilter("other"), 10)] == ["run-f"]

    async def test_listings_go_on_where_they_stopped(self, store: Store) -> None:
        rows = await store_runs(store)
        for where, expected in (
            (RunFilter("default"), rows),
            (RunFilter("default", workflow_id="order-1"), [row for row in rows if row.workflow_id == "order-1"]),
            (RunFilter("default", status=RUNNING), [row for row in rows if row.status == RUNNING]),
        ):
            listed: list[RunRow] = []
            while page := await store.list_runs(
                where, 1, (listed[-1].start_time_ms, listed[-1].run_id) if listed else None
            ):
                assert len(page) == 1
                listed += page
            assert listed == expected

    async def test_every_field_of_a_filter_that_is_set_must_match(self, store: Store) -> None:
        await store_runs(store)
        for where, expected in (
            (RunFilter("default", workflow_id="order-1"), ["run-d", "run-e", "run-c"]),
            (RunFilter("default", workflow_type="Order"), ["run-d", "run-b", "run-e", "run-c"]),
            (RunFilter("default", workflow_type="Refund"), ["run-a"]),
            (RunFilter("default", status=COMPLETED), ["run-a", "run-c"]),
            (RunFilter("default", status=FAILED), ["run-d"]),
            (RunFilter("default", workflow_type="Order", status=COMPLETED), ["run-c"]),
            (RunFilter("default", workflow_id="order-1", status=RUNNING), ["run-e"]),
            (RunFilter("default", workflow_id="order-1", workflow_type="Refund"), []),
            (RunFilter("default", workflow_id="order-9"), []),
            (RunFilter("nowhere"), []),
        ):
            assert [row.run_id for row in await store.list_runs(where, 10)] == expected, where
            assert await store.count_runs(where) == len(expected), where

    async def test_closed_runs_come_by_close_time_and_run_id(self, store: Store) -> None:
        times = {"run-a": 300, "run-d": 100, "run-b": 200, "run-c": 100}
        for run_id, close_time_ms in times.items():
            first = new_run(run_id, workflow_id=run_id)
            assert await store.commit([first, closing(first.run, close_time_ms)]) == [True, True]
        assert await store.commit([new_run("run-open")]) == [True]
        assert [row.run_id for row in await store.closed_runs(1_000, 10)] == ["run-c", "run-d", "run-b", "run-a"]
        assert [row.run_id for row in await store.closed_runs(300, 10)] == ["run-c", "run-d", "run-b"]
        assert [row.run_id for row in await store.closed_runs(1_000, 2)] == ["run-c", "run-d"]
        assert await store.closed_runs(100, 10) == []

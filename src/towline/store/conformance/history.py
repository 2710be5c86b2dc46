"""Reading history in pages of whole blobs."""

from towline.store.api import HistoryPage, Store
from towline.store.conformance.rows import more_events, new_run

# First and last event id of each blob of the run.
SPANS = [(1, 2), (3, 3), (4, 9), (10, 10)]


async def store_history(store: Store) -> list[bytes]:
    """One run with blobs of 100 bytes each, and a neighbour on each side; returns the run's blobs."""
    batch = new_run("run-1")
    group = [new_run("run-0", workflow_id="order-0"), batch, new_run("run-2", workflow_id="order-2")]
    for first, last in SPANS[1:]:
        batch = more_events(batch.run, last - first + 1)
        group.append(batch)
    for each in group:
        each.events = each.events.ljust(100, b".")
    assert await store.commit(group) == [True] * 6
    return [each.events for each in group if each.run.run_id == "run-1"]


class HistoryConformance:
    """What `read_history` promises."""

    async def test_all_of_it(self, store: Store) -> None:
        blobs = await store_history(store)
        assert await store.read_history("run-1", 1, 10_000) == HistoryPage(blobs, 1, 10)

    async def test_it_begins_with_the_blob_that_holds_the_event(self, store: Store) -> None:
        blobs = await store_history(store)
        for first_event_id in range(1, 11):
            index = next(i for i, (_, last) in enumerate(SPANS) if first_event_id <= last)
            expected = HistoryPage(blobs[index:], SPANS[index][0], 10)
            assert await store.read_history("run-1", first_event_id, 10_000) == expected

    async def test_as_many_blobs_as_fit(self, store: Store) -> None:
        blobs = await store_history(store)
        assert await store.read_history("run-1", 1, 299) == HistoryPage(blobs[:2], 1, 3)
        assert await store.read_history("run-1", 1, 300) == HistoryPage(blobs[:3], 1, 9)
        assert await store.read_history("run-1", 3, 200) == HistoryPage(blobs[1:3], 3, 9)

    async def test_one_blob_at_least(self, store: Store) -> None:
        blobs = await store_history(store)
        assert await store.read_history("run-1", 5, 0) == HistoryPage(blobs[2:3], 4, 9)
        assert await store.read_history("run-1", 1, 99) == HistoryPage(blobs[:1], 1, 2)

    async def test_nothing_after_the_end(self, store: Store) -> None:
        await store_history(store)
        assert await store.read_history("run-1", 11, 10_000) == HistoryPage([], 0, 0)
        assert await store.read_history("run-1", 1_000_000_000_000, 10_000) == HistoryPage([], 0, 0)

    async def test_nothing_of_an_unknown_run(self, store: Store) -> None:
        await store_history(store)
        assert await store.read_history("run-7", 1, 10_000) == HistoryPage([], 0, 0)

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

import pytest

from towline.store.api import Batch, StoreError
from towline.store.conformance.rows import new_run
from towline.store.group import GroupCommit
from towline.store.memory import MemoryStore

T = TypeVar("T")


class GatedStore(MemoryStore):
    """A store whose commits wait for `gate`; it keeps the groups it was handed."""

    def __init__(self) -> None:
        super().__init__()
        self.groups: list[list[str]] = []
        self.gate = asyncio.Semaphore(0)
        self.entered = asyncio.Semaphore(0)
        self.error: Exception | None = None

    async def commit(self, batches: Sequence[Batch]) -> list[bool]:
        self.groups.append([batch.run.run_id for batch in batches])
        self.entered.release()
        await self.gate.acquire()
        if self.error is not None:
            raise self.error
        return await super().commit(batches)


async def begin(work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
    """Start a coroutine and come back when it has run up to where it waits."""
    started = asyncio.Event()

    async def run() -> T:
        started.set()
        return await work

    task = asyncio.ensure_future(run())
    await started.wait()
    return task


def start(group: GroupCommit, run_id: str, workflow_id: str | None = None) -> "asyncio.Task[bool]":
    return asyncio.ensure_future(group.commit(new_run(run_id, workflow_id=workflow_id or run_id)))


async def commit(group: GroupCommit, run_id: str) -> "asyncio.Task[bool]":
    return await begin(group.commit(new_run(run_id, workflow_id=run_id)))


async def test_what_waits_while_the_store_is_busy_goes_as_one_group() -> None:
    store = GatedStore()
    group = GroupCommit(store)
    first = await commit(group, "a")
    await store.entered.acquire()
    rest = [await commit(group, name) for name in "bcd"]
    store.gate.release()
    await store.entered.acquire()
    assert first.done()
    assert not any(task.done() for task in rest)
    store.gate.release()
    assert await asyncio.gather(first, *rest) == [True] * 4
    assert store.groups == [["a"], ["b", "c", "d"]]


async def test_each_caller_gets_the_answer_to_its_own_batch() -> None:
    store = GatedStore()
    group = GroupCommit(store)
    tasks = [start(group, "a", "one"), start(group, "b", "one"), start(group, "c", "other")]
    store.gate.release()
    assert await asyncio.gather(*tasks) == [True, False, True]


async def test_an_idle_store_is_handed_a_lone_batch() -> None:
    store = GatedStore()
    group = GroupCommit(store)
    for name in "ab":
        store.gate.release()
        assert await group.commit(new_run(name, workflow_id=name))
    assert store.groups == [["a"], ["b"]]


@pytest.mark.parametrize("error", [StoreError("disk full"), ZeroDivisionError("a bug")])
async def test_an_error_fails_every_batch_of_the_group_and_no_other(error: Exception) -> None:
    store = GatedStore()
    group = GroupCommit(store)
    tasks = [start(group, "a"), start(group, "b")]
    await store.entered.acquire()
    later = await commit(group, "c")
    store.error = error
    store.gate.release()
    raised = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(each) for each in raised] == [type(error)] * 2
    assert [str(each) for each in raised] == [str(error)] * 2
    store.error = None
    store.gate.release()
    assert await later


async def test_a_cancelled_caller_leaves_the_group_whole() -> None:
    store = GatedStore()
    group = GroupCommit(store)
    tasks = [start(group, "a"), start(group, "b"), start(group, "c")]
    await store.entered.acquire()
    tasks[1].cancel()
    with pytest.raises(asyncio.CancelledError):
        await tasks[1]
    store.gate.release()
    assert await asyncio.gather(*tasks[::2]) == [True, True]
    assert await store.load_run("b") is not None


async def test_a_caller_cancelled_before_its_group_began_is_written_all_the_same() -> None:
    store = GatedStore()
    group = GroupCommit(store)
    first = await commit(group, "a")
    await store.entered.acquire()
    second, third = await commit(group, "b"), await commit(group, "c")
    second.cancel()
    store.gate.release()
    store.gate.release()
    assert await first
    assert await third
    assert store.groups == [["a"], ["b", "c"]]


async def test_close_waits_for_what_was_handed_over_and_refuses_the_rest() -> None:
    store = GatedStore()
    group = GroupCommit(store)
    first = await commit(group, "a")
    await store.entered.acquire()
    second = await commit(group, "b")
    closing = await begin(group.close())
    with pytest.raises(StoreError, match="closed"):
        await group.commit(new_run("c"))
    assert not closing.done()
    store.gate.release()
    store.gate.release()
    await closing
    assert first.result()
    assert second.result()
    await group.close()


async def test_a_cancelled_close_does_not_stop_the_writing() -> None:
    store = GatedStore()
    group = GroupCommit(store)
    first = await commit(group, "a")
    await store.entered.acquire()
    closing = await begin(group.close())
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    store.gate.release()
    assert await first

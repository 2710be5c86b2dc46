"""After a task is decided, nothing of the run is alive, and nothing is heard of it."""

import asyncio
import gc
import sys
import warnings
import weakref
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

import pytest

from tests.runtime.histories import Run, asked, broken
from towline import activity, workflow


class Trace:
    """Notes what workflow code did; lives outside of the runs."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.alive: weakref.WeakSet[Any] = weakref.WeakSet()


TRACE = Trace()


class Kept:
    """Something that workflow code holds."""


@pytest.fixture(autouse=True)
def trace() -> Iterator[Trace]:
    """An empty trace; fails the test if Python complains of anything left over."""
    TRACE.notes.clear()
    unraisable: list[Any] = []
    before, sys.unraisablehook = sys.unraisablehook, unraisable.append
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield TRACE
            gc.collect()
    finally:
        sys.unraisablehook = before
    assert not unraisable
    assert not TRACE.alive


@activity.defn(start_to_close_timeout=timedelta(seconds=1))
async def work(name: str) -> str:
    return name


@workflow.defn
async def cleans_up() -> None:
    kept = Kept()
    TRACE.alive.add(kept)

    async def background() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            TRACE.notes.append("background ends")
            await asyncio.create_task(work("more"))

    task = asyncio.create_task(background())
    try:
        await work("a")
    finally:
        TRACE.notes.append("main ends")
        await work("cleanup")
        TRACE.notes.append("never")
    await task


def test_finally_blocks_of_abandoned_code_ask_for_nothing(trace: Trace) -> None:
    run = Run(cleans_up)
    assert asked(run.step()) == [("1", "work")]
    assert sorted(trace.notes) == ["background ends", "main ends"]


@workflow.defn
async def clings() -> None:
    kept = Kept()
    TRACE.alive.add(kept)
    for _ in range(3):
        try:
            await work("a")
        except GeneratorExit:
            await _ignore_the_end()


async def _ignore_the_end() -> None:
    TRACE.notes.append("held on")
    await asyncio.sleep(0)


def test_code_that_awaits_while_it_is_closed_ends_all_the_same(trace: Trace) -> None:
    Run(clings).step()
    assert trace.notes == ["held on"]


@workflow.defn
async def retries() -> None:
    try:
        await work("a")
    finally:
        while True:
            try:
                await work("cleanup")
                break
            except Exception:
                TRACE.notes.append("tried again")


def test_a_retry_loop_in_a_finally_block_ends(trace: Trace) -> None:
    Run(retries).step()
    assert trace.notes == []


@workflow.defn
async def waits_for_everything() -> None:
    kept = Kept()
    TRACE.alive.add(kept)
    handles = [workflow.start_activity(work, name) for name in "ab"]
    event, lock = asyncio.Event(), asyncio.Lock()
    async with asyncio.TaskGroup() as group, lock:
        group.create_task(event.wait())
        group.create_task(lock.acquire())
        group.create_task(work("c"))
        await asyncio.gather(*handles, asyncio.shield(handles[0]))


def test_waiting_tasks_go_without_a_word() -> None:
    assert len(Run(waits_for_everything).step()) == 3


async def _numbers() -> AsyncIterator[int]:
    kept = Kept()
    TRACE.alive.add(kept)
    try:
        yield 1
        await work("a")
        yield 2
    finally:
        TRACE.notes.append("generator ends")


@workflow.defn
async def generates() -> int:
    found = 0
    async for number in _numbers():
        found = number
        break
    async for number in _numbers():
        found += number
    return found


def test_async_generators_go_too() -> None:
    run = Run(generates)
    assert asked(run.step()) == [("1", "work")]
    run.complete("1", "x")
    run.step()
    assert run.result() == 4


@workflow.defn
async def fails_in_the_background() -> None:
    asyncio.create_task(_fails())  # noqa: RUF006
    await work("a")


async def _fails() -> None:
    raise LookupError("nobody awaits this")


def test_an_error_that_nobody_awaits_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    run = Run(fails_in_the_background)
    run.step()
    assert [str(record.exc_info[1]) for record in caplog.records if record.exc_info] == ["nobody awaits this"]
    caplog.clear()
    run.complete("1", "x")
    run.step()
    assert caplog.records == []


async def test_the_running_loop_of_the_thread_is_as_before() -> None:
    loop, task, hooks = asyncio.get_running_loop(), asyncio.current_task(), sys.get_asyncgen_hooks()
    Run(waits_for_everything).step()
    assert asyncio.get_running_loop() is loop
    assert asyncio.current_task() is task
    assert sys.get_asyncgen_hooks() == hooks
    assert not workflow.in_workflow()
    assert await work("plain") == "plain"


@workflow.defn
async def drops(how: str) -> None:
    match how:
        case "a time-out":
            await asyncio.wait_for(work("a"), 5)
        case "a time-out of execute_activity":
            await asyncio.wait_for(workflow.execute_activity(work, "a"), 5)
        case "a call":
            work("a")  # type: ignore[unused-coroutine]  # the mistake
        case "a task":
            asyncio.create_task(work("a"))  # noqa: RUF006  # the mistake
            raise ValueError("before it ran")


@pytest.mark.parametrize("how", ["a time-out", "a time-out of execute_activity", "a call", "a task"])
def test_a_call_that_is_dropped_leaves_no_warning(how: str, recwarn: pytest.WarningsRecorder) -> None:
    Run(drops, how).decide()
    gc.collect()
    assert [str(warning.message) for warning in recwarn] == []


@workflow.defn
async def awaits_a_call_twice() -> list[str]:
    call = work("a")
    return [await call, await call]


def test_a_call_is_awaited_once_like_any_coroutine() -> None:
    run = Run(awaits_a_call_twice)
    run.step()
    run.complete("1", "a")
    assert "cannot reuse already awaited coroutine" in broken(run.decide()).failure.message

"""What asyncio offers works in a workflow, and waits durably."""

import asyncio
from datetime import timedelta

import pytest

from tests.runtime.histories import Run, asked, broken
from towline import activity, workflow
from towline.exceptions import ActivityError


@activity.defn(start_to_close_timeout=timedelta(seconds=10))
async def work(name: str) -> str:
    return name


@workflow.defn
async def gathers() -> list[str]:
    return list(await asyncio.gather(work("a"), work("b"), workflow.execute_activity(work, "c")))


def test_gather_asks_for_all_at_once_and_keeps_the_order() -> None:
    run = Run(gathers)
    assert asked(run.step()) == [("1", "work"), ("2", "work"), ("3", "work")]
    run.complete("3", "C")
    assert run.step() == []
    run.complete("1", "A")
    run.complete("2", "B")
    run.step()
    assert run.result() == ["A", "B", "C"]


@workflow.defn
async def groups() -> str:
    failed = 0
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work(name)) for name in ("a", "b")]
    except* ActivityError as errors:
        failed = len(errors.exceptions)
    if failed:
        return f"{failed} failed, {[task.cancelled() for task in tasks]}"
    return "".join(task.result() for task in tasks)


def test_a_task_group_waits_for_all() -> None:
    run = Run(groups)
    run.step()
    run.complete("2", "B")
    run.step()
    run.complete("1", "A")
    run.step()
    assert run.result() == "AB"


def test_a_task_group_cancels_the_others_when_one_fails() -> None:
    run = Run(groups)
    run.step()
    run.fail("1")
    run.step()
    assert run.result() == "1 failed, [False, True]"


def test_a_result_that_nobody_waits_for_any_more_is_dropped() -> None:
    run = Run(groups)
    run.step()
    run.fail("1")
    run.complete("2", "B")
    run.step()
    assert run.result().startswith("1 failed")


@workflow.defn
async def first_of_two() -> list[str]:
    handles = [workflow.start_activity(work, name) for name in ("a", "b", "c")]
    seen = []
    waiting = set(handles)
    while waiting:
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        seen += [f"{handle.activity_id}={handle.result()}" for handle in done]
    return seen


def test_wait_gives_what_is_there_in_the_same_order_every_time() -> None:
    runs = [Run(first_of_two) for _ in range(5)]
    for run in runs:
        run.step()
        run.complete("2", "B")
        run.step()
        run.complete("3", "C")
        run.complete("1", "A")
        run.step()
    assert runs[0].result()[0] == "2=B"
    assert sorted(runs[0].result()) == ["1=A", "2=B", "3=C"]
    assert len({tuple(run.result()) for run in runs}) == 1


@workflow.defn
async def coordinates() -> list[str]:
    """A producer and consumers, with one of everything."""
    queue: asyncio.Queue[str] = asyncio.Queue(maxsize=1)
    lock, ready, ends = asyncio.Lock(), asyncio.Event(), asyncio.Semaphore(1)
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str] = loop.create_future()
    seen: list[str] = []

    async def produce() -> None:
        await ready.wait()
        for name in ("a", "b"):
            await queue.put(await work(name))
        answer.set_result("answered")

    async def consume() -> None:
        async with asyncio.timeout(None), ends:
            for _ in range(2):
                item = await queue.get()
                async with lock:
                    await asyncio.sleep(0)
                    seen.append(item)

    tasks = [asyncio.create_task(produce()), asyncio.create_task(consume())]
    loop.call_soon(ready.set)
    seen.append(await answer)
    await asyncio.gather(*tasks)
    return seen


def test_event_queue_lock_semaphore_future_and_create_task() -> None:
    run = Run(coordinates)
    assert asked(run.step()) == [("1", "work")]
    run.complete("1", "A")
    assert asked(run.step()) == [("2", "work")]
    run.complete("2", "B")
    run.step()
    assert sorted(run.result()) == ["A", "B", "answered"]


@workflow.defn
async def eager() -> str:
    asyncio.get_running_loop().set_task_factory(getattr(asyncio, "eager_task_factory", None))
    quick = asyncio.create_task(_nothing())
    slow = asyncio.create_task(work("a"))
    return f"{await quick}{await slow}"


async def _nothing() -> str:
    return "-"


def test_eager_tasks_where_python_has_them() -> None:
    run = Run(eager)
    assert asked(run.step()) == [("1", "work")]
    run.complete("1", "A")
    run.step()
    assert run.result() == "-A"


@workflow.defn
async def sleeps(how: str) -> None:
    match how:
        case "sleep":
            await asyncio.sleep(1)
        case "timeout":
            async with asyncio.timeout(1):
                await work("a")
        case _:
            await asyncio.wait_for(workflow.start_activity(work, "a"), 1)


@pytest.mark.parametrize("how", ["sleep", "timeout", "wait_for"])
def test_waiting_for_time_says_that_there_is_no_timer(how: str) -> None:
    failed = broken(Run(sleeps, how).decide())
    assert "needs a durable timer" in failed.failure.message


@workflow.defn
async def outlives() -> str:
    task = asyncio.create_task(_asks_again())
    await asyncio.sleep(0)
    return f"done, {task.done()}"


async def _asks_again() -> None:
    await asyncio.sleep(0)
    await work("too late")


def test_nothing_is_asked_for_after_the_workflow_returned() -> None:
    run = Run(outlives)
    assert len(run.step()) == 1
    assert run.result() == "done, False"

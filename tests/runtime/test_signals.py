"""Signals reach their handlers, in the order in which they came."""

import asyncio
from datetime import timedelta

import pytest

from tests.runtime.histories import Run, asked, broken
from towline import workflow
from towline.exceptions import ApplicationError


@workflow.defn
class Basket:
    def __init__(self) -> None:
        self.items: list[str] = []
        self.closed = asyncio.Event()

    @workflow.run
    async def run(self) -> list[str]:
        self.items.append("run")
        await self.closed.wait()
        return self.items

    @workflow.signal
    def add(self, item: str, count: int = 1) -> None:
        self.items += [item] * count

    @workflow.signal(name="checkOut")
    async def close(self) -> None:
        await workflow.execute_activity("price", start_to_close_timeout=timedelta(seconds=1))
        self.closed.set()

    @workflow.signal
    async def refuse(self, bug: bool) -> None:
        raise KeyError("bug") if bug else ApplicationError("refused")


@workflow.defn
class Discounted(Basket):
    @workflow.run
    async def run(self) -> list[str]:
        return ["cheap", *await super().run()]


@pytest.mark.parametrize(("basket", "result"), [(Basket, []), (Discounted, ["cheap"])])
def test_handlers_run_in_order_sync_and_async(basket: type[Basket], result: list[str]) -> None:
    run = Run(basket)
    run.step()
    run.history.signaled("add", "a")
    run.history.signaled("checkOut")
    run.history.signaled("add", "b", 2)
    assert asked(run.step()) == [("1", "price")]
    run.complete("1")
    run.step()
    assert run.result() == [*result, "run", "a", "b", "b"]


def test_a_signal_that_came_with_the_start_is_handled_before_the_workflow_runs() -> None:
    run = Run(Basket)
    run.history.signaled("add", "early")
    run.history.signaled("checkOut")
    run.step()
    run.complete("1")
    run.step()
    assert run.result() == ["early", "run"]


def test_a_signal_that_nothing_handles_is_dropped_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    run = Run(Basket)
    run.history.signaled("nobody", 1)
    assert run.step() == []
    [record] = caplog.records
    assert record.getMessage() == (
        "signal 'nobody' (event 2) is dropped: the workflow has no handler of that name (handlers: add, checkOut, "
        "refuse): send one of these, or add a method with @workflow.signal"
    )
    assert vars(record)["workflow_id"] == "demo-1"
    caplog.clear()
    run.step()
    assert caplog.text == "", "said once, not in every replay"


def test_a_signal_that_cannot_be_read_is_dropped_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    run = Run(Basket)
    run.history.signaled("add", 3)
    run.history.signaled("checkOut")
    run.step()
    assert "signal 'add' (event 2) is dropped: args[0] (1 bytes of json/plain): expected str" in caplog.text
    run.complete("1")
    caplog.clear()
    run.step()
    assert run.result() == ["run"]
    assert caplog.text == "", "said once, not in every replay"


def test_a_failure_in_a_handler_fails_the_workflow() -> None:
    run = Run(Basket)
    run.history.signaled("refuse", False)
    run.step()
    assert run.failure().message == "refused"


def test_a_bug_in_a_handler_fails_the_task() -> None:
    run = Run(Basket)
    run.history.signaled("refuse", True)
    assert broken(run.decide()).failure.application_failure_info.type == "KeyError"

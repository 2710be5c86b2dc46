"""What can be a workflow."""

from collections.abc import Callable
from typing import Any

import pytest

from towline import workflow


def _sync() -> None: ...


class _NoRun: ...


class _TwoRuns:
    @workflow.run
    async def first(self) -> None: ...

    @workflow.run
    async def second(self) -> None: ...


class _NoDefn:
    @workflow.run
    async def run(self) -> None: ...


class _SameSignal:
    @workflow.run
    async def run(self) -> None: ...

    @workflow.signal(name="go")
    def one(self) -> None: ...

    @workflow.signal(name="go")
    def two(self) -> None: ...


async def _by_name(*, key: str) -> None: ...


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (_sync, "_sync is no workflow: it must be an `async def`"),
        (_NoRun, "exactly one method with @workflow.run, found none"),
        (_TwoRuns, "exactly one method with @workflow.run, found first, second"),
        (_SameSignal, "two and one both take the signal 'go'"),
        (_by_name, "arguments travel by position, but 'key' is keyword-only"),
    ],
)
def test_what_is_no_workflow_is_refused(code: Any, says: str) -> None:
    with pytest.raises(TypeError) as refused:
        workflow.defn(code)
    assert says in str(refused.value)


def test_a_sync_run_method_is_refused() -> None:
    with pytest.raises(TypeError, match="run method must be `async def`"):
        workflow.run(_sync)


@workflow.defn(name="Order")
class Order:
    @workflow.run
    async def run(self, order_id: str, lines: "list[Line]") -> "Line | None":
        return lines[0] if order_id else None

    @workflow.signal
    def cancel(self, reason: str) -> None: ...


class Line:
    """Defined below what names it."""


def test_a_definition_knows_types_that_come_later() -> None:
    definition = workflow.definition_of(Order)
    assert definition.name == "Order"
    assert definition.arg_types == (str, list[Line])
    assert definition.return_type == Line | None
    assert definition.signals["cancel"].signature.arg_types == (str,)
    assert workflow.signal_name(Order.cancel) == "cancel"


def test_a_type_that_does_not_exist_is_named() -> None:
    async def broken(order: "Nowhere") -> None: ...  # type: ignore[name-defined]  # noqa: F821

    workflow.defn(broken)
    with pytest.raises(Exception, match="'Nowhere' is not defined") as error:
        _ = workflow.definition_of(broken).arg_types
    assert "define or import what they name" in str(error.value)


def test_a_subclass_is_a_workflow_once_it_is_decorated() -> None:
    class Special(Order): ...

    with pytest.raises(TypeError, match="Special is not a workflow"):
        workflow.definition_of(Special)
    workflow.defn(Special)
    assert workflow.definition_of(Special).name == "Special"
    assert workflow.definition_of(Order).name == "Order"


def test_a_run_method_stands_for_its_class_unless_several_share_it() -> None:
    @workflow.defn
    class Base:
        @workflow.run
        async def run(self) -> int:
            return 1

    @workflow.defn
    class Own(Base):
        @workflow.run
        async def run(self) -> int:
            return 2

    assert workflow.definition_of(Base.run).cls is Base
    assert workflow.definition_of(Own.run).cls is Own
    assert workflow.definition_of(workflow.defn(name="Again")(Base).run).name == "Again"

    @workflow.defn
    class Heir(Base): ...

    assert workflow.definition_of(Heir).cls is Heir
    with pytest.raises(TypeError, match=r"Base\.run is the run method of several workflows: give the class"):
        workflow.definition_of(Heir.run)
    with pytest.raises(TypeError, match=r"_NoDefn\.run is the run method of no workflow: decorate its class"):
        workflow.definition_of(_NoDefn.run)


@pytest.mark.parametrize(("ask", "thing"), [(workflow.definition_of, 3), (workflow.signal_name, print)])
def test_what_was_not_decorated_is_named(ask: Callable[[object], object], thing: object) -> None:
    with pytest.raises(TypeError, match="decorate it with"):
        ask(thing)

"""What is measured."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bench import app


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One kind of load: a workflow, what the i-th run of it gets, and what it must give back."""

    name: str
    workflow: Any  # decorated with @workflow.defn
    argument: Callable[[int], object]
    expected: Callable[[int], object]
    count: int = 3_000  # runs, unless told otherwise
    concurrency: int = 50  # of them open at the same time, unless told otherwise


def _text(number: int) -> str:
    return f"hello {number}"


def _echo(name: str, *, count: int, concurrency: int) -> Case:
    return Case(
        name=name,
        workflow=app.echo,
        argument=_text,
        expected=lambda number: _text(number).upper(),
        count=count,
        concurrency=concurrency,
    )


CASES: Final[Mapping[str, Case]] = {
    case.name: case
    for case in (
        Case(name="noop", workflow=app.noop, argument=int, expected=int),
        _echo("echo", count=3_000, concurrency=50),
        Case(name="seq10", workflow=app.sequence, argument=int, expected=lambda number: number + app.STEPS, count=500),
        _echo("latency", count=500, concurrency=1),
    )
}

"""Tests wait on events and fake clocks, and none is left out."""

import ast
from collections.abc import Iterator
from typing import Final

from tests.rules.source import Source, dotted

LEFT_OUT: Final = (
    "pytest.skip",
    "pytest.xfail",
    "pytest.importorskip",
    "pytest.mark.skip",
    "pytest.mark.skipif",
    "pytest.mark.xfail",
    "unittest.skip",
)
# Calls that fail a test when something is not so; a wait does it through the test's time-out.
# A property test may do it all in helpers that raise.
PROOFS: Final = ("raises", "fail", "given", "run_state_machine_as_test", "wait")
CLOCKS: Final = ("time.time", "time.time_ns", "time.monotonic", "time.monotonic_ns", "time.perf_counter")


def check_sleeps(source: Source) -> Iterator[str]:
    """Sleeps. `asyncio.sleep(0)` lets others run and is no sleep; inside a workflow a sleep is a durable timer."""
    in_workflows = {id(node) for workflow in _workflows(source.tree) for node in ast.walk(workflow)}
    calls = {id(node.func): node for node in ast.walk(source.tree) if isinstance(node, ast.Call)}
    for node, name in source.names():
        if name not in ("asyncio.sleep", "time.sleep") or id(node) in in_workflows:
            continue
        call = calls.get(id(node))
        if name == "asyncio.sleep" and call and [ast.unparse(argument) for argument in call.args[:1]] == ["0"]:
            continue
        yield source.at(node, f"a test must not {name}: wait for an event, or advance a FakeClock")


def check_clocks(source: Source) -> Iterator[str]:
    """Readings of the machine's clock: how long something takes here says nothing."""
    for node, name in source.names():
        if name in CLOCKS:
            yield source.at(node, f"a test must not read {name}: use a FakeClock")


def check_left_out(source: Source) -> Iterator[str]:
    """Tests that are skipped or expected to fail."""
    for node, name in source.names():
        if name in LEFT_OUT:
            yield source.at(node, f"{name}: a test that does not run proves nothing; repair it or remove it")


def check_asserts(source: Source) -> Iterator[str]:
    """Test functions that cannot fail but by accident."""
    functions = (node for node in ast.walk(source.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    for function in functions:
        if function.name.startswith("test_") and not any(_asserts(node) for node in ast.walk(function)):
            yield source.at(function, f"{function.name} asserts nothing")


def _asserts(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        name = dotted(node.func).rpartition(".")[2]
        return name in PROOFS or name.startswith(("assert", "check", "expect"))
    return isinstance(node, ast.Assert)


def _workflows(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for decorator in node.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if dotted(called).startswith("workflow."):
                    yield node

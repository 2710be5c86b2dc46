"""Modules hold no state that changes."""

import ast
from collections.abc import Iterator

from tests.rules.source import Source, dotted


def check(source: Source) -> Iterator[str]:
    """Module-level lists, dicts and sets that are not constants, and `global`."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Global):
            yield source.at(node, f"global {', '.join(node.names)}: hold it in an object and pass that on")
    for statement in source.tree.body:
        if isinstance(statement, ast.Assign) and _mutable(statement.value):
            for target in statement.targets:
                if isinstance(target, ast.Name) and not _constant(target.id):
                    yield source.at(statement, f"{target.id} can change: make it a Final constant, or an attribute")
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None and _mutable(statement.value):
            yield from _unless_final(source, statement)


def _unless_final(source: Source, statement: ast.AnnAssign) -> Iterator[str]:
    if "Final" not in ast.unparse(statement.annotation):
        yield source.at(statement, f"{ast.unparse(statement.target)} can change: annotate it Final")


def _mutable(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        return dotted(value.func).rpartition(".")[2] in ("list", "dict", "set", "defaultdict", "deque", "Counter")
    return isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)


def _constant(name: str) -> bool:
    return name.isupper() or (name.startswith("__") and name.endswith("__"))

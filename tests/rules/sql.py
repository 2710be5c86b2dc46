"""SQL is not put together from strings: it stands in .sql files and takes its values as parameters."""

import ast
import re
from collections.abc import Iterator
from typing import Final

from tests.rules.source import Source

# PRAGMA is missing on purpose: SQLite takes no parameters there.
STATEMENT: Final = re.compile(
    r"\s*(SELECT\s|INSERT\s+(OR\s|INTO\s)|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|REPLACE\s+INTO\s|WITH\s+\w+\s+AS\s"
    r"|(CREATE|DROP|ALTER)\s+(UNIQUE\s+)?(TABLE|INDEX|TRIGGER|VIEW)\s)"
)


def check(source: Source) -> Iterator[str]:
    """SQL built with f-strings, `%`, `+` or `format`."""
    for node in ast.walk(source.tree):
        if STATEMENT.match(_start_of_built_string(node)):
            yield source.at(node, "SQL built from strings: write it in a .sql file, with parameters")


def _start_of_built_string(node: ast.AST) -> str:
    """The text that a string put together by `node` begins with; "" for everything else."""
    if isinstance(node, ast.JoinedStr) and any(isinstance(part, ast.FormattedValue) for part in node.values):
        return _constant(node.values[0])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        return _constant(node.left)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return _constant(node.func.value)
    return ""


def _constant(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""

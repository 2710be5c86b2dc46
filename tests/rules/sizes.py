"""Files and functions stay small enough to be read in one go."""

import ast
from collections.abc import Iterator
from typing import Final

from tests.rules.source import Source

# A ratchet: these numbers only ever go down.
FUNCTION_LINES: Final = 70
FILE_LINES: Final = 400


def check(source: Source) -> Iterator[str]:
    """Files and functions over the limit."""
    length = len(source.text.splitlines())
    if length > FILE_LINES:
        yield f"{source.path}: {length} lines, the limit is {FILE_LINES}: one noun to a file"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            lines = node.end_lineno - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield source.at(node, f"{node.name} has {lines} lines, the limit is {FUNCTION_LINES}: name its steps")

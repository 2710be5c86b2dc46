"""What stands in a file besides its code."""

import ast
import io
import tokenize
from collections.abc import Iterator
from typing import Final

from tests.rules.source import Source

# In two parts, so that this file passes its own rule.
LATER: Final = ("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")


def check_docstring(source: Source) -> Iterator[str]:
    """Files that do not say what they are."""
    if not ast.get_docstring(source.tree):
        yield f"{source.path}: no docstring: say in one sentence what the file is"


def check_later(source: Source) -> Iterator[str]:
    """Work put off in a comment or a docstring."""
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.COMMENT:
            for word in LATER:
                if word in token.string:
                    yield f"{source.path}:{token.start[0]}: {word}: do it now, or write an issue"
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            for word in LATER:
                if word in (ast.get_docstring(node) or ""):
                    yield source.at(node, f"{word} in a docstring: do it now, or write an issue")

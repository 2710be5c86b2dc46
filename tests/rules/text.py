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
    """Work put off in a comment."""
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.COMMENT:
            for word in LATER:
                if word in token.string:
                    yield f"{source.path}:{token.start[0]}: {word}: do it now, or write an issue"

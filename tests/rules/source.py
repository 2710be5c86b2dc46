"""The project's Python files as rules see them: parsed once, and able to tell what a dotted name means."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
GENERATED: Final = "src/towline/api/"


@dataclass(frozen=True)
class Source:
    """One file. `path` is relative to the repository, with forward slashes."""

    path: str
    text: str
    tree: ast.Module = field(repr=False)

    def at(self, node: ast.AST, message: str) -> str:
        """A finding: where, and what."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}: {message}"

    def names(self) -> Iterator[tuple[ast.expr, str]]:
        """Every use of something imported, with its full name: `t.time` after `import time as t` is time.time."""
        imported = imports(self.tree)
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name | ast.Attribute):
                name = dotted(node)
                first, _, rest = name.partition(".")
                if first in imported:
                    yield node, imported[first] + ("." + rest if rest else "")


def parse(path: str, text: str) -> Source:
    """A file from its text."""
    return Source(path, text, ast.parse(text, path))


@cache
def sources(folder: str) -> tuple[Source, ...]:
    """Every hand-written Python file below a folder of the repository."""
    paths = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*.py"))
    return tuple(parse(path, (ROOT / path).read_text()) for path in paths if not path.startswith(GENERATED))


def dotted(node: ast.expr) -> str:
    """`a.b.c` as text; "" for anything else than names joined by dots."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        left = dotted(node.value)
        return f"{left}.{node.attr}" if left else ""
    return ""


def imports(tree: ast.Module) -> Mapping[str, str]:
    """What each imported name stands for, wherever in the file it is imported."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                found[alias.asname or name] = name
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found

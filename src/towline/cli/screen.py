"""Printing what was laid out for the eye, so that programs may have it, too."""

import re
from typing import Final

from rich.console import Console, RenderableType

_TRAILING: Final = re.compile(r"[ \t]+$", re.MULTILINE)


def put(console: Console, *parts: RenderableType) -> None:
    """Print the parts, one below the other. What goes to no terminal has no blanks at the ends of its lines."""
    for part in parts:
        if console.is_terminal:
            console.print(part)
            continue
        with console.capture() as captured:
            console.print(part)
        console.file.write(_TRAILING.sub("", captured.get()))
        console.file.flush()

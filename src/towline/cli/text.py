"""Text for a terminal: nothing in it can move the cursor, and it is as short as its place."""

import unicodedata
from typing import Final

_KEPT: Final = frozenset("\n\t")


def printable(text: str) -> str:
    """The text with every control character written as an escape, so that data cannot drive the terminal."""
    return "".join(
        character
        if character in _KEPT or unicodedata.category(character) not in {"Cc", "Cf", "Cs"}
        else _escape(character)
        for character in text
    )


def one_line(text: str) -> str:
    """The text on one line, words kept apart by single spaces."""
    return " ".join(printable(text).split())


def shorten(text: str, width: int) -> str:
    """At most `width` characters, the last of them an ellipsis where something was cut off."""
    return text if len(text) <= width else text[: max(0, width - 1)] + "…"


def size(size_bytes: int) -> str:
    """A number of bytes for people: `17 B`, `1.2 KiB`, `3.0 MiB`."""
    if size_bytes < 1024:
        return f"{size_bytes} B"
    value = float(size_bytes)
    for unit in ("KiB", "MiB", "GiB"):
        value /= 1024
        if value < 1024:
            return f"{value:.1f} {unit}"
    return f"{value / 1024:.1f} TiB"


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii") if character.isascii() else f"\\u{ord(character):04x}"

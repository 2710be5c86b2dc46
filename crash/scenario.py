"""What a file's name says of how the reading of it goes."""

from pathlib import Path
from typing import Final

_FAILING: Final = "fails-once"
_SLOW: Final = "slow"
# A slow file takes seconds: longer than a heartbeat time-out, so that more than its first heartbeat is sent.
_SLOW_PAUSE_S: Final = 0.25
_PAUSE_S: Final = 0.02


def file_name(index: int, *, kind: str) -> str:
    """The name of the index-th file of a workflow; `kind` is one of `KINDS`."""
    return f"{index}-{kind}.txt"


# As often as they are to come.
KINDS: Final = (*("plain",) * 5, *(_FAILING,) * 2, _SLOW)


def fails_once(path: str) -> bool:
    """The first attempt to read it fails half-way."""
    return _kind(path) == _FAILING


def pause_s(path: str) -> float:
    """How long each chunk of it takes."""
    return _SLOW_PAUSE_S if _kind(path) == _SLOW else _PAUSE_S


def _kind(path: str) -> str:
    return Path(path).stem.partition("-")[2]

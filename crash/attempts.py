"""A line for every attempt that an activity began, whatever became of it."""

import hashlib
import os
from pathlib import Path
from typing import Final

import msgspec

_NAME: Final = "attempts.jsonl"


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt, as it began."""

    key: str  # the activity's idempotency key
    number: int  # from 1
    token: str  # names the delivery: no other one has it
    resumed: bool  # it went on from where a heartbeat of an earlier attempt was


class Attempts:
    """The attempts of one workflow's activities, in its output folder. Processes that are killed leave whole lines."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _NAME

    def begin(self, key: str, *, attempt: int, token: bytes, resumed: bool) -> None:
        """Add one. Several processes may do so at a time."""
        digest = hashlib.sha256(token).hexdigest()
        line = msgspec.json.encode(Attempt(key=key, number=attempt, token=digest, resumed=resumed)) + b"\n"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, line)
        finally:
            os.close(file)

    def read(self) -> list[Attempt]:
        """All of them, in the order in which they began."""
        if not self._path.exists():
            return []
        return [msgspec.json.decode(line, type=Attempt) for line in self._path.read_bytes().splitlines()]

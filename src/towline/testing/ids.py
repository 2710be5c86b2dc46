"""Ids that a test can foretell."""

import itertools


class SequenceIds:
    """Implements `towline.ids.Ids`: run-1, run-2, … for the prefix "run"."""

    def __init__(self, prefix: str = "run") -> None:
        self._prefix = prefix
        self._numbers = itertools.count(1)

    def new_id(self) -> str:
        """The next one."""
        return f"{self._prefix}-{next(self._numbers)}"

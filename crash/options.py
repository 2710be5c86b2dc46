"""How big a test is."""

from dataclasses import dataclass
from typing import Final

_AT_ONCE: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What can be chosen. The seed decides who is killed when, and what the files are."""

    workflows: int
    kills: int
    workers: int
    seed: int
    patience_s: float  # it is stuck if no workflow closes for so long

    @property
    def at_once(self) -> int:
        """How many workflows are open at a time: few in a small test, so that some are left for the last kill."""
        return min(_AT_ONCE, max(1, self.workflows // 3))

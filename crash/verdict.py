"""What came of it, workflow by workflow: counts, and a line for everything that is wrong."""

from collections.abc import Collection
from dataclasses import dataclass, field


@dataclass(slots=True)
class Verdict:
    """`workflows` are the ids of those that had to complete. A workflow with any fault has not completed."""

    workflows: Collection[str]
    faults: list[str] = field(default_factory=list)
    _lost: set[str] = field(default_factory=set)
    _duplicated: set[str] = field(default_factory=set)

    def lose(self, workflow_id: str, what: str) -> None:
        """Something of the workflow is not there, or not as it must be."""
        self._lost.add(workflow_id)
        self.faults.append(f"{workflow_id}: {what}")

    def duplicate(self, workflow_id: str, what: str) -> None:
        """Something of the workflow is there more than once, or is nobody's."""
        self._duplicated.add(workflow_id)
        self.faults.append(f"{workflow_id}: {what}")

    @property
    def completed(self) -> int:
        """Workflows of which everything is as it must be."""
        return len(set(self.workflows) - self._lost - self._duplicated)

    @property
    def lost(self) -> int:
        """Workflows of which something is missing or wrong."""
        return len(self._lost)

    @property
    def duplicated(self) -> int:
        """Workflows of which something is there more than once."""
        return len(self._duplicated)

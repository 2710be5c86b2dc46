"""The activities that a worker has."""

from collections.abc import Callable, Sequence
from typing import Any

from towline.activity import ActivityDefinition
from towline.exceptions import ApplicationError


class ActivityRegistry:
    """Activities by name.

    Raises TypeError for something that is no activity and ValueError for a name that is given twice.
    """

    def __init__(self, activities: Sequence[ActivityDefinition[..., Any] | Callable[..., Any]]) -> None:
        self._definitions: dict[str, ActivityDefinition[..., Any]] = {}
        for definition in activities:
            if not isinstance(definition, ActivityDefinition):
                raise TypeError(f"{definition!r} is no activity: decorate it with @activity.defn")
            if definition.name in self._definitions:
                raise ValueError(f"two activities are named {definition.name!r}: give one another name")
            self._definitions[definition.name] = definition

    def __len__(self) -> int:
        return len(self._definitions)

    def find(self, name: str, *, task_queue: str) -> ActivityDefinition[..., Any]:
        """The activity of that name.

        Raises ApplicationError, which may be tried again: another worker of the queue, or this one's next version, may
        have it.
        """
        definition = self._definitions.get(name)
        if definition is None:
            known = ", ".join(sorted(self._definitions)) or "none"
            raise ApplicationError(
                f"activity {name!r} is not registered on this worker of task queue {task_queue!r} (registered: "
                f"{known}): add it to Worker(activities=[…]), or send it to the task queue of a worker that has it",
                type="ActivityNotRegistered",
            )
        return definition

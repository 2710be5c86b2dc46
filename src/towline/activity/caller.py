"""How a call of an activity inside workflow code finds the workflow, without knowing the workflow runtime."""

from collections.abc import Awaitable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from towline.activity.definition import ActivityDefinition


class ActivityCaller(Protocol):
    """Turns calls of activities into durable ones. The runtime's."""

    def call(self, definition: "ActivityDefinition[..., Any]", args: tuple[object, ...]) -> Awaitable[Any]:
        """Schedule the activity with the definition's options; the awaitable gives its result or raises its failure."""


# Set while workflow code runs, and only then.
current_caller: Final[ContextVar[ActivityCaller | None]] = ContextVar("towline.activity.current_caller", default=None)

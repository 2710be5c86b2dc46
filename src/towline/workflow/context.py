"""How the functions of this package find the run that calls them, without knowing the workflow runtime."""

import random
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Protocol

from towline.workflow.errors import NotInWorkflow

if TYPE_CHECKING:
    from towline.workflow.request import ActivityHandle, ActivityRequest
    from towline.workflow.run_info import Info


class WorkflowContext(Protocol):
    """A run, to its own code. The runtime's."""

    @property
    def info(self) -> "Info":
        """Which run it is."""

    @property
    def random(self) -> random.Random:
        """Deterministic: seeded by the run's id."""

    @property
    def now_ms(self) -> int:
        """When the workflow task that runs was started, in milliseconds since 1970-01-01 UTC."""

    @property
    def is_replaying(self) -> bool:
        """True: the code does again what it did before."""

    @property
    def history_length(self) -> int:
        """The id of the last event that the workflow task that runs has seen."""

    @property
    def continue_as_new_suggested(self) -> bool:
        """True: the history is long."""

    def start_activity(self, request: "ActivityRequest") -> "ActivityHandle[Any]":
        """Schedule the activity. Raises EncodeError, or ValueError if the options make no sense."""


# Set while workflow code runs, and only then.
current_context: Final[ContextVar[WorkflowContext | None]] = ContextVar("towline.workflow.current", default=None)


def context(caller: str) -> WorkflowContext:
    """The run that calls `workflow.<caller>()`. Raises NotInWorkflow if none does."""
    found = current_context.get()
    if found is None:
        raise NotInWorkflow(
            f"workflow.{caller}() was called outside of a workflow: call it in code that a workflow runs"
        )
    return found


def in_workflow() -> bool:
    """True: a workflow runs this code."""
    return current_context.get() is not None

"""What workflow code can do wrong. None of these is a FailureError: they fail the workflow task, not the execution."""

from towline.exceptions import TowlineError


class NotInWorkflow(TowlineError):
    """A function of `towline.workflow` was called outside of a workflow."""


class NotPossibleInWorkflow(TowlineError):
    """Workflow code asked for something that cannot be replayed: I/O, threads, another event loop."""


class NondeterminismError(TowlineError):
    """The code asked for something else than it did when the history was written."""

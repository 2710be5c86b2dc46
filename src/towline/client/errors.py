"""What a client raises, besides `RpcError` and `exceptions.WorkflowAlreadyStartedError`."""

from collections.abc import Iterator
from typing import Final

from towline.client.transport.api import RpcError
from towline.exceptions import FailureError, TowlineError
from towline.status import Status

# Of each cause, in characters.
_WIDTH: Final = 300


class NotFoundError(RpcError):
    """There is no such workflow, run or namespace. The message says which."""

    def __init__(self, message: str) -> None:
        super().__init__(Status.NOT_FOUND, message)


class WorkflowFailureError(TowlineError):
    """The workflow execution did not complete. `cause` says why: what it raised, or a TerminatedError.

    The text names the cause, the cause of that, and so on, a line of each.
    """

    def __init__(self, workflow_id: str, *, cause: FailureError) -> None:
        why = ", caused by ".join(_brief(error) for error in _chain(cause))
        super().__init__(f"workflow {workflow_id!r} did not complete: {why}")
        self.workflow_id = workflow_id
        self.__cause__ = cause


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _brief(error: BaseException) -> str:
    first_line = (str(error).splitlines() or [type(error).__name__])[0]
    return first_line if len(first_line) <= _WIDTH else f"{first_line[:_WIDTH]}…"

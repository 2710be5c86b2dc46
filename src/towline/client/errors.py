"""What a client raises, besides `RpcError` and `exceptions.WorkflowAlreadyStartedError`."""

from towline.client.transport.api import RpcError
from towline.exceptions import FailureError, TowlineError
from towline.status import Status


class NotFoundError(RpcError):
    """There is no such workflow, run or namespace. The message says which."""

    def __init__(self, message: str) -> None:
        super().__init__(Status.NOT_FOUND, message)


class WorkflowFailureError(TowlineError):
    """The workflow execution did not complete. `cause` says why: what it raised, or a TerminatedError."""

    def __init__(self, workflow_id: str, *, cause: FailureError) -> None:
        super().__init__(f"workflow {workflow_id!r} did not complete: {cause}")
        self.workflow_id = workflow_id
        self.__cause__ = cause

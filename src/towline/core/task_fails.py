"""How a command says that the workflow task it came with cannot stand, though the request was a proper one."""

from towline.api.common_pb2 import WorkflowTaskFailedCause
from towline.api.failure_pb2 import Failure


class TaskFails(Exception):
    """The workflow task is failed with this cause; the run stays open and the task is tried again."""

    def __init__(self, cause: WorkflowTaskFailedCause.ValueType, failure: Failure) -> None:
        super().__init__(failure.message)
        self.cause = cause
        self.failure = failure

"""How a run ends: by a result or by a failure."""

from towline.api.command_pb2 import (
    Command,
    CompleteWorkflowExecutionCommandAttributes,
    FailWorkflowExecutionCommandAttributes,
)
from towline.api.common_pb2 import Payloads
from towline.api.failure_pb2 import Failure
from towline.api.history_pb2 import (
    EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED,
    EVENT_TYPE_WORKFLOW_EXECUTION_FAILED,
    HistoryEvent,
)
from towline.exceptions import FailureError
from towline.runtime.command import Asked


class AskedCompletion(Asked):
    """The workflow returned."""

    def __init__(self, result: Payloads) -> None:
        self.source = None
        self.command = Command(complete_workflow=CompleteWorkflowExecutionCommandAttributes(result=result))

    def describe(self) -> str:
        return "the end of the run, with a result"

    def matches(self, event: HistoryEvent) -> bool:
        return event.event_type == EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED

    def recorded(self, event: HistoryEvent) -> None:
        """Nothing comes after it."""


class AskedFailure(Asked):
    """The workflow decided to fail."""

    def __init__(self, failure: Failure) -> None:
        self.source = None
        self._message = failure.message
        self.command = Command(fail_workflow=FailWorkflowExecutionCommandAttributes(failure=failure))

    def describe(self) -> str:
        return f"the end of the run, with the failure {self._message!r}"

    def matches(self, event: HistoryEvent) -> bool:
        return event.event_type == EVENT_TYPE_WORKFLOW_EXECUTION_FAILED

    def recorded(self, event: HistoryEvent) -> None:
        """Nothing comes after it."""


def decides_to_fail(error: BaseException) -> bool:
    """True: the error fails the workflow execution; False: it is a bug, and fails the workflow task.

    A group of errors, as a TaskGroup raises it, decides so if all of its errors do.
    """
    if isinstance(error, BaseExceptionGroup):
        return all(decides_to_fail(each) for each in error.exceptions)
    return isinstance(error, FailureError)

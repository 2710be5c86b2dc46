"""What a worker needs of whatever decides its workflow tasks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from towline.api.command_pb2 import Command
from towline.api.common_pb2 import WorkflowTaskFailedCause
from towline.api.failure_pb2 import Failure
from towline.api.history_pb2 import HistoryEvent
from towline.api.task_service_pb2 import PollWorkflowTaskResponse


@dataclass(frozen=True, slots=True)
class WorkflowTaskFailed:
    """The task could not be decided; to be reported with FailWorkflowTask. The run stays open."""

    cause: WorkflowTaskFailedCause.ValueType
    failure: Failure


class WorkflowHandler(Protocol):
    """Decides workflow tasks. Called in a worker's workflow thread, one call at a time per run."""

    def handle_workflow_task(
        self, task: PollWorkflowTaskResponse, history: Sequence[HistoryEvent]
    ) -> list[Command] | WorkflowTaskFailed:
        """The commands that follow from the history, which is whole, from event 1 through the task's started event.

        Pure and deterministic: the same history gives the same commands. Raises nothing.
        """

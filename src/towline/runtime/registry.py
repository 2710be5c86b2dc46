"""The workflows that a worker knows, and how it decides their tasks."""

from collections.abc import Mapping, Sequence
from typing import Any

from towline.api.command_pb2 import Command
from towline.api.common_pb2 import WorkflowTaskFailedCause
from towline.api.history_pb2 import EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, HistoryEvent
from towline.api.task_service_pb2 import PollWorkflowTaskResponse
from towline.convert import DataConverter
from towline.exceptions import TowlineError
from towline.runtime.execution import Execution, Undecided
from towline.runtime.handler import WorkflowHandler, WorkflowTaskFailed
from towline.runtime.history import BrokenHistory, split
from towline.workflow.definition import WorkflowDefinition, definition_of
from towline.workflow.errors import NondeterminismError


class UnknownWorkflow(TowlineError):
    """The worker has no workflow of the type."""


class WorkflowRegistry(WorkflowHandler):
    """Decides workflow tasks by running the workflow's code against its history, from the start.

    `workflows` are functions and classes decorated with `@workflow.defn`. Raises TypeError if one is not, ValueError
    if two have the same name.
    """

    def __init__(self, workflows: Sequence[Any], converter: DataConverter) -> None:
        self._converter = converter
        self._definitions = _by_name(workflows)

    @property
    def definitions(self) -> Mapping[str, WorkflowDefinition]:
        """The workflows by their names."""
        return self._definitions

    def handle_workflow_task(
        self, task: PollWorkflowTaskResponse, history: Sequence[HistoryEvent]
    ) -> list[Command] | WorkflowTaskFailed:
        try:
            started = _first(history)
            definition = self._find(started.workflow_execution_started.workflow_type)
            tasks = split(history, task.started_event_id)
            return Execution(definition, started, self._converter).decide(tasks)
        except Undecided as bug:
            return bug.failed
        except NondeterminismError as error:
            return self._failed(error, WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_NON_DETERMINISTIC_ERROR)
        except Exception as error:
            return self._failed(
                error, WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_WORKFLOW_WORKER_UNHANDLED_FAILURE
            )

    def _find(self, name: str) -> WorkflowDefinition:
        definition = self._definitions.get(name)
        if definition is None:
            known = ", ".join(sorted(self._definitions)) or "none"
            raise UnknownWorkflow(
                f"workflow type {name!r} is not registered with this worker (registered: {known}): "
                "add it to Worker(workflows=[...]), or start it on the task queue of a worker that has it"
            )
        return definition

    def _failed(self, error: Exception, cause: WorkflowTaskFailedCause.ValueType) -> WorkflowTaskFailed:
        return WorkflowTaskFailed(cause, self._converter.failures.to_failure(error))


def _by_name(workflows: Sequence[Any]) -> dict[str, WorkflowDefinition]:
    found: dict[str, WorkflowDefinition] = {}
    for definition in map(definition_of, workflows):
        if definition.name in found:
            raise ValueError(f"two workflows are named {definition.name!r}: give one of them @workflow.defn(name=...)")
        found[definition.name] = definition
    return found


def _first(history: Sequence[HistoryEvent]) -> HistoryEvent:
    if not history or history[0].event_type != EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
        raise BrokenHistory("the history does not begin with WorkflowExecutionStarted: read it again, from event 1")
    return history[0]

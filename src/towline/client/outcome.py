"""How a run ended, from its closing event."""

from typing import Any

from towline.api.history_pb2 import HistoryEvent
from towline.client.errors import WorkflowFailureError
from towline.convert import ConversionError, DataConverter
from towline.exceptions import TerminatedError, TowlineError


def outcome(event: HistoryEvent, *, workflow_id: str, result_type: Any, converter: DataConverter) -> Any:
    """The run's result. Raises WorkflowFailureError; TowlineError if this client does not know the event."""
    match event.WhichOneof("attributes"):
        case "workflow_execution_completed":
            return converter.from_result(event.workflow_execution_completed.result, result_type)
        case "workflow_execution_failed":
            failure = event.workflow_execution_failed.failure
            raise WorkflowFailureError(workflow_id, cause=converter.failures.from_failure(failure))
        case "workflow_execution_terminated":
            raise WorkflowFailureError(workflow_id, cause=_terminated(event, converter))
        case _:
            raise TowlineError(
                f"workflow {workflow_id!r} closed with an event of type {event.event_type}, which this client does not "
                "know: upgrade it"
            )


def _terminated(event: HistoryEvent, converter: DataConverter) -> TerminatedError:
    attributes = event.workflow_execution_terminated
    try:
        details = converter.from_payloads(attributes.details, what="details")
    except ConversionError:
        details = list(attributes.details.payloads)  # whoever reads it may know more than this converter
    return TerminatedError(attributes.reason or "terminated without a reason", *details)

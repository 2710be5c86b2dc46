"""What workflow code uses."""

from towline.workflow.definition import (
    SignalDefinition,
    WorkflowDefinition,
    defn,
    definition_of,
    run,
    signal,
    signal_name,
)
from towline.workflow.errors import NondeterminismError, NotInWorkflow, NotPossibleInWorkflow

__all__ = [
    "NondeterminismError",
    "NotInWorkflow",
    "NotPossibleInWorkflow",
    "SignalDefinition",
    "WorkflowDefinition",
    "defn",
    "definition_of",
    "run",
    "signal",
    "signal_name",
]

"""What workflow code uses: `from towline import workflow`."""

from typing import TYPE_CHECKING

from towline.workflow.absent import refuse
from towline.workflow.activity import CallOptions, execute_activity, start_activity
from towline.workflow.clock import now, time
from towline.workflow.context import in_workflow
from towline.workflow.definition import (
    SignalDefinition,
    WorkflowDefinition,
    definition_of,
    defn,
    run,
    signal,
    signal_name,
)
from towline.workflow.errors import NondeterminismError, NotInWorkflow, NotPossibleInWorkflow
from towline.workflow.log import logger
from towline.workflow.randomness import random, uuid4
from towline.workflow.request import ActivityHandle
from towline.workflow.run_info import Info, history_length, info, is_continue_as_new_suggested, is_replaying

__all__ = [
    "ActivityHandle",
    "CallOptions",
    "Info",
    "NondeterminismError",
    "NotInWorkflow",
    "NotPossibleInWorkflow",
    "SignalDefinition",
    "WorkflowDefinition",
    "definition_of",
    "defn",
    "execute_activity",
    "history_length",
    "in_workflow",
    "info",
    "is_continue_as_new_suggested",
    "is_replaying",
    "logger",
    "now",
    "random",
    "run",
    "signal",
    "signal_name",
    "start_activity",
    "time",
    "uuid4",
]

if not TYPE_CHECKING:  # type checkers know what is there, and what is not

    def __getattr__(name):
        refuse(name)

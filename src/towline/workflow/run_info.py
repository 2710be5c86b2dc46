"""Which run this is."""

from dataclasses import dataclass
from datetime import datetime

from towline.workflow.context import context


@dataclass(frozen=True, slots=True, kw_only=True)
class Info:
    """The run, as its first event has it. The same in every replay."""

    namespace: str
    workflow_id: str
    run_id: str
    # The first run of the chain that this run belongs to.
    first_execution_run_id: str
    workflow_type: str
    task_queue: str
    # When the run began, in UTC.
    start_time: datetime


def info() -> Info:
    """The run that calls this. Raises NotInWorkflow outside of a workflow."""
    return context("info").info


def history_length() -> int:
    """How many events the run's history has, up to the workflow task that runs. Raises NotInWorkflow."""
    return context("history_length").history_length


def is_continue_as_new_suggested() -> bool:
    """True: the history is so long that the workflow should start over with a new one. Raises NotInWorkflow."""
    return context("is_continue_as_new_suggested").continue_as_new_suggested


def is_replaying() -> bool:
    """True: what the code does now, it did before. For logs and metrics only; never decide anything by it.

    Raises NotInWorkflow.
    """
    return context("is_replaying").is_replaying

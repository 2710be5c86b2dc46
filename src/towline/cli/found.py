"""Workflows and activities that a module has, for a worker that nobody wrote down."""

from types import ModuleType

from towline.activity import ActivityDefinition
from towline.cli.defaults import DEFAULT_TASK_QUEUE
from towline.worker import WorkerConfig
from towline.workflow import definition_of


def found_in(module: ModuleType) -> WorkerConfig | None:
    """A worker of all that the module defines or imports; None: it has neither workflows nor activities."""
    values = list(vars(module).values())
    activities = [value for value in values if isinstance(value, ActivityDefinition)]
    workflows = [value for value in values if _is_workflow(value)]
    if not workflows and not activities:
        return None
    return WorkerConfig(
        task_queue=DEFAULT_TASK_QUEUE,
        workflows=list(dict.fromkeys(workflows)),
        activities=list(dict.fromkeys(activities)),
    )


def _is_workflow(value: object) -> bool:
    try:
        definition_of(value)
    except TypeError:
        return False
    return True

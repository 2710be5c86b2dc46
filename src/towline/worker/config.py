"""A worker before it has a client: what user code writes down for `towline worker` and `towline dev` to run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any

from towline import limits
from towline.activity import ActivityDefinition
from towline.client import Client
from towline.runtime import WorkflowHandler
from towline.worker.worker import Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """The arguments of a `Worker`, under the same names and with the same defaults: see there for what each means.

    worker = WorkerConfig(task_queue="hello", workflows=[echo], activities=[upper])
    """

    task_queue: str
    workflows: Sequence[Callable[..., Any]] = ()
    activities: Sequence[ActivityDefinition[..., Any] | Callable[..., Any]] = ()
    workflow_handler: WorkflowHandler | None = None
    identity: str | None = None
    max_concurrent_activities: int = limits.CONCURRENT_TASKS
    max_concurrent_workflow_tasks: int = limits.CONCURRENT_TASKS
    max_concurrent_activity_task_polls: int = limits.POLLERS
    max_concurrent_workflow_task_polls: int = limits.POLLERS
    reconnect_initial: timedelta = timedelta(milliseconds=limits.RECONNECT_INITIAL_MS)
    reconnect_max: timedelta = timedelta(milliseconds=limits.RECONNECT_MAXIMUM_MS)
    drain_timeout: timedelta = timedelta(milliseconds=limits.DRAIN_TIMEOUT_MS)

    def worker(self, client: Client) -> Worker:
        """A worker with these arguments, not yet running. Raises what `Worker` raises for arguments that are wrong."""
        return Worker(client, **{field.name: getattr(self, field.name) for field in fields(self)})

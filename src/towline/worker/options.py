"""The knobs of a worker."""

from dataclasses import dataclass
from datetime import timedelta

from towline import limits


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOptions:
    """See `Worker` for what each means. Raises ValueError for values that make no sense."""

    max_concurrent_activities: int = limits.CONCURRENT_TASKS
    max_concurrent_workflow_tasks: int = limits.CONCURRENT_TASKS
    max_concurrent_activity_task_polls: int = limits.POLLERS
    max_concurrent_workflow_task_polls: int = limits.POLLERS
    reconnect_initial: timedelta = timedelta(milliseconds=limits.RECONNECT_INITIAL_MS)
    reconnect_max: timedelta = timedelta(milliseconds=limits.RECONNECT_MAXIMUM_MS)
    drain_timeout: timedelta = timedelta(milliseconds=limits.DRAIN_TIMEOUT_MS)
    run_workflows_inline: bool = False

    def __post_init__(self) -> None:
        for name in (
            "max_concurrent_activities",
            "max_concurrent_workflow_tasks",
            "max_concurrent_activity_task_polls",
            "max_concurrent_workflow_task_polls",
        ):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: it must be 1 or more")
        if not timedelta(0) < self.reconnect_initial <= self.reconnect_max:
            raise ValueError(
                f"reconnect_initial {self.reconnect_initial} and reconnect_max {self.reconnect_max} do not fit: "
                "0 < reconnect_initial <= reconnect_max"
            )
        if self.drain_timeout < timedelta(0):
            raise ValueError(f"drain_timeout is {self.drain_timeout}: use 0 to cancel running activities at once")

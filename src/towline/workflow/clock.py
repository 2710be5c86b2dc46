"""Time in a workflow: it stands still during a workflow task, and is the same in every replay."""

from datetime import UTC, datetime

from towline.workflow.context import context


def now() -> datetime:
    """When the workflow task that runs was started, in UTC. Raises NotInWorkflow."""
    return datetime.fromtimestamp(time(), UTC)


def time() -> float:
    """As `now`, in seconds since 1970-01-01 UTC. Raises NotInWorkflow."""
    return context("now").now_ms / 1000

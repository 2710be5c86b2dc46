"""Activities: the steps of a workflow that touch the world. What user code imports: `from towline import activity`."""

from towline.activity.caller import ActivityCaller
from towline.activity.context import cancel_cause, heartbeat, in_activity, info
from towline.activity.definition import ActivityDefinition, defn
from towline.activity.errors import (
    ActivityCancelled,
    CancelRequested,
    DeadlinePassed,
    HeartbeatTimeout,
    LeaseLost,
    NotInActivity,
    WorkerShutdown,
)
from towline.activity.info import Info
from towline.activity.options import ActivityOptions, RetryPolicy

__all__ = [
    "ActivityCaller",
    "ActivityCancelled",
    "ActivityDefinition",
    "ActivityOptions",
    "CancelRequested",
    "DeadlinePassed",
    "HeartbeatTimeout",
    "Info",
    "LeaseLost",
    "NotInActivity",
    "RetryPolicy",
    "WorkerShutdown",
    "cancel_cause",
    "defn",
    "heartbeat",
    "in_activity",
    "info",
]

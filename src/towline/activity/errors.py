"""What an activity can be told, and what goes wrong when its functions are used in the wrong place."""

from typing import ClassVar

from towline.exceptions import TowlineError


class NotInActivity(TowlineError, RuntimeError):
    """A function of `towline.activity` that needs a running activity was called outside of one."""


class ActivityCancelled(TowlineError):
    """Why an activity is to stop. Base of all cancel causes.

    An async activity sees `asyncio.CancelledError` at its next `await`, with the cause in `args[0]`; a sync activity
    sees the cause itself, raised by its next `activity.heartbeat()`. `activity.cancel_cause()` gives it in both.
    """

    # True: the attempt's lease is gone, so nothing that the attempt still does is reported.
    lease_gone: ClassVar[bool] = False


class HeartbeatTimeout(ActivityCancelled):
    """No heartbeat for as long as the heartbeat time-out: the server gives the task to someone else."""

    lease_gone = True


class LeaseLost(ActivityCancelled):
    """The server said that this attempt is no longer the one that counts."""

    lease_gone = True


class DeadlinePassed(ActivityCancelled):
    """The attempt took longer than it may (start-to-close, or schedule-to-close time-out)."""

    lease_gone = True


class CancelRequested(ActivityCancelled):
    """The workflow no longer wants the result."""


class WorkerShutdown(ActivityCancelled):
    """The worker stops, and waits for its activities no longer. The attempt fails and is tried again elsewhere."""

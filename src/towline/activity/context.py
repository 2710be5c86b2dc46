"""The running activity, found through a ContextVar: the same in a task, in the tasks it starts, and in threads."""

from contextvars import ContextVar
from typing import Final, Protocol

from towline.activity.errors import ActivityCancelled, NotInActivity
from towline.activity.info import Info


class ActivityContext(Protocol):
    """What a worker (or a test) offers to an activity that runs."""

    @property
    def info(self) -> Info:
        """The attempt."""

    def heartbeat(self, details: tuple[object, ...]) -> None:
        """See `towline.activity.heartbeat`."""

    def cancel_cause(self) -> ActivityCancelled | None:
        """See `towline.activity.cancel_cause`."""


# Set while an activity runs, and only then. `asyncio.to_thread` carries it along; a bare `threading.Thread` does not.
current_context: Final[ContextVar[ActivityContext | None]] = ContextVar(
    "towline.activity.current_context", default=None
)


def in_activity() -> bool:
    """Whether this code runs in an activity that a worker started."""
    return current_context.get() is not None


def info() -> Info:
    """What is known of the running attempt.

    Raises NotInActivity outside of an activity.
    """
    return _context("info").info


def heartbeat(*details: object) -> None:
    """Tell the server that the activity is alive and how far it has come. May be called as often as you like.

    `details` are what the next attempt finds in `info().heartbeat_details` should this one fail; without any the
    earlier ones stay. Not every call is sent: the worker sends the first at once and then the newest of them once per
    80 % of the heartbeat time-out. An activity with a heartbeat time-out that does not call this in time is cancelled.

    Raises NotInActivity outside of an activity, and in a thread (a sync activity, or `asyncio.to_thread`) the cancel
    cause, an ActivityCancelled, if the activity is to stop: threads cannot be interrupted, so this is how they learn
    of it. Raises what the data converter raises for details that it cannot convert.
    """
    _context("heartbeat").heartbeat(details)


def cancel_cause() -> ActivityCancelled | None:
    """Why the activity is to stop: HeartbeatTimeout, LeaseLost, DeadlinePassed, CancelRequested or WorkerShutdown.

    None: it is not. Raises NotInActivity outside of an activity.
    """
    return _context("cancel_cause").cancel_cause()


def _context(name: str) -> ActivityContext:
    context = current_context.get()
    if context is None:
        raise NotInActivity(
            f"activity.{name}() was called outside of an activity: it works in code that a worker runs as an activity, "
            "in the tasks and asyncio.to_thread calls that this code starts, and nowhere else"
        )
    return context

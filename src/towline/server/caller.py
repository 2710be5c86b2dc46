"""What a transport tells the services of the one who calls."""

from collections.abc import Callable


class Caller:
    """One call's other end.

    `deadline_ms` is the time that it still waits, None: as long as it takes. Where it goes away before the answer was
    handed to it, the transport calls `gone()`, and whoever must undo something for that has said so with `on_gone`.
    """

    def __init__(self, deadline_ms: int | None = None) -> None:
        self.deadline_ms = deadline_ms
        self._gone = False
        self._callbacks: list[Callable[[], None]] = []

    def on_gone(self, callback: Callable[[], None]) -> None:
        """Call back if the caller goes away before it has its answer; at once if it is gone."""
        if self._gone:
            callback()
        else:
            self._callbacks.append(callback)

    def gone(self) -> None:
        """For the transport: the answer will not reach the caller. Only the first call counts."""
        if self._gone:
            return
        self._gone = True
        for callback in self._callbacks:
            callback()


# An answer needs this long to reach the caller: a wait ends so much before the caller's own deadline.
_ANSWER_MARGIN_MS = 200


def waiting_time_ms(longest_ms: int, caller: Caller) -> int:
    """How long a call may wait for something to come, given the server's limit and the caller's patience."""
    if caller.deadline_ms is None:
        return longest_ms
    return max(min(longest_ms, caller.deadline_ms - _ANSWER_MARGIN_MS), 0)

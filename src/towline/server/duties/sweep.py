"""Tasks that nobody offered."""

from towline.clock import Clock
from towline.server.duties.base import Duty
from towline.server.matching import Matching
from towline.server.settings import Settings


class Sweep(Duty):
    """Has the polled queues look into the store now and then.

    What another server put there, and what a commit left there whose end could not be told, is found within the
    interval: the safety net of the design, slow on purpose.
    """

    def __init__(self, matching: Matching, *, clock: Clock, settings: Settings) -> None:
        super().__init__(clock=clock)
        self._matching = matching
        self._interval_ms = settings.sweep_interval_ms

    async def turn(self) -> int:
        self._matching.sweep()
        return self._interval_ms

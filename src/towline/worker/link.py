"""What all parts of a worker share: who it is, and its way to the server."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from structlog.typing import FilteringBoundLogger

from towline.client.transport.api import Transport
from towline.clock import Clock
from towline.status import Status
from towline.worker.reconnect import reconnect_delay

# A call that takes longer is taken for lost and made again.
CALL_TIMEOUT_MS: Final = 10_000

# Trying again can help. Leases survive a restart of the server, so a report that was late may still count.
TRANSIENT: Final = frozenset(
    {Status.UNAVAILABLE, Status.DEADLINE_EXCEEDED, Status.ABORTED, Status.INTERNAL, Status.UNKNOWN, Status.CANCELLED}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One worker's identity and connection. Used on the I/O loop only."""

    transport: Transport
    clock: Clock
    namespace: str
    task_queue: str
    identity: str
    worker_instance_key: str
    reconnect_initial: timedelta
    reconnect_max: timedelta
    logger: FilteringBoundLogger

    def delay_ms(self, n: int) -> int:
        """The wait after the n-th failure in a row, in milliseconds, 1 at least."""
        return max(1, reconnect_delay(n, self.reconnect_initial, self.reconnect_max) // timedelta(milliseconds=1))

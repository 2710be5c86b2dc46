"""The heartbeats of one attempt: which are sent, and what happens when none comes."""

import asyncio
from collections.abc import Callable
from typing import Final

from towline import limits
from towline.activity import ActivityCancelled, CancelRequested, HeartbeatTimeout, LeaseLost
from towline.api.common_pb2 import Payloads
from towline.api.task_service_pb2 import PollActivityTaskResponse, RecordHeartbeatRequest
from towline.client.transport.api import RpcError
from towline.clock import Cancellable
from towline.rpc import TASK_METHODS
from towline.worker.link import CALL_TIMEOUT_MS, TRANSIENT, Link

# Without a time-out nothing needs to be sent in time, but the details are wanted all the same.
_WINDOW_WITHOUT_TIMEOUT_MS: Final = 30_000


class Heartbeats:
    """Watches the time-out on the worker's clock and sends some of the heartbeats. Lives on the I/O loop.

    - The watchdog: from `start` and from each `record` the time-out runs anew; when it passes, `cancel` is called with
      HeartbeatTimeout. The server measures the same interval, and gives the task to someone else after it.
    - The throttle: a heartbeat is sent at once if none was sent in the last 80 % of the time-out, else at the end of
      that window, with the newest details. One call at a time.
    - A heartbeat that cannot be delivered is tried again until the lease that the last delivered one bought is over;
      then `cancel` is called with HeartbeatTimeout too, as the server may have moved on behind a broken network.
    - A refusal calls `cancel` with LeaseLost, a wish of the server with CancelRequested.
    """

    def __init__(
        self, task: PollActivityTaskResponse, link: Link, *, cancel: Callable[[ActivityCancelled], None]
    ) -> None:
        self._task = task
        self._link = link
        self._cancel = cancel
        self._timeout_ms = task.heartbeat_timeout_ms
        self._window_ms = int(self._timeout_ms * limits.HEARTBEAT_SEND_SHARE) or _WINDOW_WITHOUT_TIMEOUT_MS
        self._watchdog: Cancellable | None = None
        self._window: Cancellable | None = None
        self._sending: asyncio.Task[None] | None = None
        self._due = False
        self._stopped = False
        self._failures = 0
        self._lease_ends_ms = 0
        # The newest details that the server is not known to have; None: it has them all.
        self.unsent: Payloads | None = None

    def start(self) -> None:
        """The attempt begins."""
        self._lease_ends_ms = self._link.clock.now_ms() + self._timeout_ms
        self._watch()

    def record(self, details: Payloads | None) -> None:
        """The activity is alive, and has come as far as `details` say (None: nothing new)."""
        if self._stopped:
            return
        self._watch()
        if details is not None:
            self.unsent = details
        self._due = True
        self._send_if_due()

    def stop(self) -> None:
        """The attempt is over: no more watching, no more sending. `unsent` stays, for the report."""
        self._stopped = True
        for timer in (self._watchdog, self._window):
            if timer is not None:
                timer.cancel()
        if self._sending is not None:
            self._sending.cancel()

    def _watch(self) -> None:
        if self._watchdog is not None:
            self._watchdog.cancel()
        if self._timeout_ms:
            self._watchdog = self._link.clock.call_later(self._timeout_ms, self._time_out)

    def _time_out(self) -> None:
        self._give_up(HeartbeatTimeout(f"no heartbeat for {self._timeout_ms} ms, the heartbeat time-out"))

    def _give_up(self, cause: ActivityCancelled) -> None:
        self.stop()
        self._cancel(cause)

    def _send_if_due(self) -> None:
        if self._due and not self._stopped and self._window is None and self._sending is None:
            self._open_window(self._window_ms)
            self._sending = asyncio.get_running_loop().create_task(self._send())

    def _open_window(self, length_ms: int) -> None:
        if self._window is not None:
            self._window.cancel()
        self._window = self._link.clock.call_later(max(1, length_ms), self._close_window)

    def _close_window(self) -> None:
        self._window = None
        self._send_if_due()

    async def _send(self) -> None:
        sent, sent_at_ms = self.unsent, self._link.clock.now_ms()
        self._due = False
        try:
            response = await self._link.transport.call(
                TASK_METHODS["RecordHeartbeat"], self._request(sent), timeout_ms=self._call_timeout_ms()
            )
        except RpcError as error:
            self._sending = None
            self._failed(error)
            return
        self._sending = None
        self._failures = 0
        self._lease_ends_ms = sent_at_ms + self._timeout_ms
        if self.unsent is sent:
            self.unsent = None
        if response.cancel_requested:
            self._cancel(CancelRequested("the workflow asked for the activity to be cancelled"))
        self._send_if_due()

    def _request(self, details: Payloads | None) -> RecordHeartbeatRequest:
        return RecordHeartbeatRequest(
            task_token=self._task.task_token,
            lease_token=self._task.lease_token,
            details=details,
            identity=self._link.identity,
        )

    def _call_timeout_ms(self) -> int:
        return max(1, min(CALL_TIMEOUT_MS, self._left_ms()))

    def _left_ms(self) -> int:
        """How long the lease is sure to be ours, in milliseconds."""
        return self._lease_ends_ms - self._link.clock.now_ms() if self._timeout_ms else CALL_TIMEOUT_MS

    def _failed(self, error: RpcError) -> None:
        if error.status not in TRANSIENT:
            self._give_up(LeaseLost(f"the heartbeat did not count: {error}"))
        elif self._left_ms() <= 0:
            self._give_up(HeartbeatTimeout(f"no heartbeat reached the server within the heartbeat time-out: {error}"))
        else:
            self._due = True
            self._failures += 1
            self._open_window(min(self._link.delay_ms(self._failures), self._left_ms()))

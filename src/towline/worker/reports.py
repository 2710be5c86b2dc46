"""Reports of finished work: sent until the server has taken them, refused them, or it is too late."""

from enum import Enum, auto
from typing import Any

from google.protobuf.message import Message

from towline.client.transport.api import RpcError
from towline.rpc import Method
from towline.status import Status
from towline.worker.link import CALL_TIMEOUT_MS, TRANSIENT, Link


class ReportRefused(Exception):
    """The server cannot take the report as it is (too large, a bad command): something else must be reported."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(f"{status.name}: {message}")
        self.status = status
        self.message = message


class _Verdict(Enum):
    AGAIN = auto()
    DROP = auto()  # the lease is not ours: whatever we did does not count
    REFUSED = auto()


class Reports:
    """Sends reports. `deadlines` are in milliseconds of the worker's clock; None: no limit."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def send(self, method: Method, request: Message, *, subject: str, deadline_ms: int | None) -> Any | None:
        """The server's answer; None if the report was dropped, of which a log line tells.

        Tries again with growing delays while the server cannot be reached, until the lease cannot be alive any more.
        Raises ReportRefused.
        """
        failures = 0
        while True:
            try:
                return await self._link.transport.call(method, request, timeout_ms=CALL_TIMEOUT_MS)
            except RpcError as error:
                failures += 1
                verdict = _judge(error.status)
                if verdict is _Verdict.REFUSED:
                    raise ReportRefused(error.status, error.message) from error
                delay_ms = self._delay_ms(failures, deadline_ms)
                if verdict is _Verdict.DROP or delay_ms <= 0:
                    self._log_drop(method, subject, error, failures=failures)
                    return None
            await self._link.clock.sleep(delay_ms)

    def _delay_ms(self, failures: int, deadline_ms: int | None) -> int:
        """Until the next try, the last of which is at the deadline; 0 or less: it is too late."""
        delay_ms = self._link.delay_ms(failures)
        return delay_ms if deadline_ms is None else min(delay_ms, deadline_ms - self._link.clock.now_ms())

    def _log_drop(self, method: Method, subject: str, error: RpcError, *, failures: int) -> None:
        self._link.logger.warning(
            "report dropped: the server runs the task again if it is still wanted",
            report=method.name,
            subject=subject,
            status=error.status.name,
            reason=error.message,
            tries=failures,
        )


def _judge(status: Status) -> _Verdict:
    if status in TRANSIENT:
        return _Verdict.AGAIN
    if status in (Status.FAILED_PRECONDITION, Status.NOT_FOUND, Status.UNAUTHENTICATED, Status.PERMISSION_DENIED):
        return _Verdict.DROP
    return _Verdict.REFUSED

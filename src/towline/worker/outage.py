"""A server that cannot be reached, told once for the whole worker."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from towline.client.transport.api import ConnectionClosed, RpcError
from towline.worker.link import Link

# A try to connect is over sooner (see `client/transport/channel.py`): a poll that is out for longer is with the server.
_REACHED_MS: Final = 3_000


class Outage:
    """Lasts from the first poll that fails until each kind of poll that failed has reached the server again.

    One warning when it begins, one line when it is over. Lives on the I/O loop, shared by all pollers of a worker.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        # Names of methods, all of them in trouble.
        self._failing: set[str] = set()
        self._began_at_ms = 0

    @contextmanager
    def polling(self, method: str) -> Iterator[None]:
        """Around a poll, which raises RpcError if it fails. That it waits is known long before it is answered."""
        asked_at_ms = self._link.clock.now_ms()
        waits = None
        if method in self._failing:
            waits = self._link.clock.call_later(_REACHED_MS, lambda: self._reached(method, asked_at_ms))
        try:
            yield
        except ConnectionClosed:
            raise
        except RpcError as error:
            self._failed(method, error)
            raise
        else:
            self._reached(method, asked_at_ms)
        finally:
            if waits is not None:
                waits.cancel()

    def _failed(self, method: str, error: RpcError) -> None:
        if not self._failing:
            self._began_at_ms = self._link.clock.now_ms()
            self._link.logger.warning(
                "no tasks from the server: asking again until it answers",
                method=method,
                status=error.status.name,
                reason=error.message,
            )
        self._failing.add(method)

    def _reached(self, method: str, at_ms: int) -> None:
        if method not in self._failing:
            return
        self._failing.discard(method)
        if not self._failing:
            self._link.logger.info(f"connected again after {(at_ms - self._began_at_ms) / 1000:.1f} s")

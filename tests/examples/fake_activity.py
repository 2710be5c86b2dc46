"""Running an activity's code without a worker."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from towline.activity import ActivityCancelled, Info
from towline.activity.context import current_context


class FakeActivity:
    """An attempt that keeps its heartbeats; `heartbeats_left` counts down to the death of its worker."""

    def __init__(self, key: str, *, heartbeat_details: tuple[Any, ...], heartbeats_left: int | None) -> None:
        self.info = _info(key, heartbeat_details)
        self.heartbeats: list[Any] = []
        self._heartbeats_left = heartbeats_left

    def heartbeat(self, details: tuple[object, ...]) -> None:
        """Keep the details; die when it is time."""
        self.heartbeats.append(*details)
        if self._heartbeats_left is not None:
            self._heartbeats_left -= 1
            if self._heartbeats_left == 0:
                raise WorkerDied

    def cancel_cause(self) -> ActivityCancelled | None:
        """Nobody cancels it."""
        return None


class WorkerDied(BaseException):
    """Nothing catches a SIGKILL."""


@contextmanager
def in_activity(
    key: str, *, heartbeat_details: tuple[Any, ...] = (), dies_at_heartbeat: int | None = None
) -> Iterator[FakeActivity]:
    """Code in the block is in an attempt with this idempotency key, and with the details of an earlier one."""
    fake = FakeActivity(key, heartbeat_details=heartbeat_details, heartbeats_left=dies_at_heartbeat)
    token = current_context.set(fake)
    try:
        yield fake
    finally:
        current_context.reset(token)


def _info(key: str, heartbeat_details: tuple[Any, ...]) -> Info:
    workflow_id, _, activity_id = key.rpartition("/")
    then = datetime(2026, 3, 1, tzinfo=UTC)
    return Info(
        namespace="default",
        task_queue="ingest",
        workflow_id=workflow_id,
        run_id="run-1",
        workflow_type="Ingest",
        activity_id=activity_id,
        activity_type="ingest_file",
        idempotency_key=key,
        attempt=1,
        heartbeat_details=heartbeat_details,
        trace_context={},
        deadline=None,
        scheduled_time=then,
        started_time=then,
        start_to_close_timeout=None,
        schedule_to_close_timeout=None,
        heartbeat_timeout=None,
        task_token=b"",
    )

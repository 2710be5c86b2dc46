"""What an activity may know about its attempt."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Info:
    """One attempt of an activity. All datetimes are in UTC and carry that time zone."""

    namespace: str
    task_queue: str
    workflow_id: str
    run_id: str
    workflow_type: str
    activity_id: str
    activity_type: str
    # "<workflow_id>/<activity_id>": the same on every attempt, and never the key of another activity.
    idempotency_key: str
    # Which attempt this is, from 1.
    attempt: int
    # What the newest heartbeat of an earlier attempt brought; empty: nothing.
    heartbeat_details: tuple[Any, ...]
    # The starter's trace context, by W3C header name.
    trace_context: Mapping[str, str]
    # When this attempt must be over, by the server's clock.
    deadline: datetime | None
    # When the activity was scheduled, by the server's clock.
    scheduled_time: datetime
    # When this attempt began, by the server's clock.
    started_time: datetime
    start_to_close_timeout: timedelta | None
    schedule_to_close_timeout: timedelta | None
    heartbeat_timeout: timedelta | None
    # Opaque: names the attempt to the server.
    task_token: bytes

"""One attempt of an activity: what the worker's I/O loop and the user's code both hold of it."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from towline import limits
from towline.activity import ActivityCancelled, ActivityDefinition, Info
from towline.api.common_pb2 import Payloads
from towline.api.failure_pb2 import Failure
from towline.api.task_service_pb2 import PollActivityTaskResponse
from towline.client.handover import Inbox
from towline.convert import DataConverter
from towline.worker.heartbeats import Heartbeats
from towline.worker.link import Link


@dataclass(frozen=True, slots=True)
class Completed:
    """The activity returned."""

    result: Payloads


@dataclass(frozen=True, slots=True)
class Failed:
    """The activity raised, or could not be run."""

    failure: Failure


Outcome = Completed | Failed


class Attempt:
    """Implements `activity.context.ActivityContext`.

    `start`, `cancel` and `end` are for the I/O loop; `info`, `heartbeat`, `cancel_cause`, `arguments` and `finish` for
    the user's loop or thread.
    """

    def __init__(
        self,
        task: PollActivityTaskResponse,
        definition: ActivityDefinition[..., Any],
        *,
        link: Link,
        io: Inbox,
        converter: DataConverter,
        user_loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.task = task
        self.definition = definition
        # Nothing is reported: a report could overwrite what the live attempt does.
        self.lease_gone = False
        self.outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._task_queue = link.task_queue
        self._io = io
        self._converter = converter
        self._user_loop = user_loop
        self._heartbeats = Heartbeats(task, link, cancel=self.cancel)
        self._cause: ActivityCancelled | None = None
        self._interrupt: Callable[[ActivityCancelled], None] = lambda cause: None
        self._newest: deque[Payloads] = deque(maxlen=1)
        self._posted = False

    def start(self, interrupt: Callable[[ActivityCancelled], None]) -> None:
        """The attempt begins; `interrupt` is how to reach its code when it is cancelled."""
        self._interrupt = interrupt
        self._heartbeats.start()

    def cancel(self, cause: ActivityCancelled) -> None:
        """Tell the code to stop, once for each kind of cause: code that ignored one may heed another."""
        if self.outcome.done() or isinstance(self._cause, type(cause)):
            return
        self._cause = cause
        self.lease_gone = self.lease_gone or cause.lease_gone
        self._interrupt(cause)

    def end(self) -> Payloads | None:
        """The code is done. Gives the newest heartbeat details that were not delivered."""
        self._heartbeats.stop()
        return self._heartbeats.unsent

    @cached_property
    def info(self) -> Info:
        task = self.task
        return Info(
            namespace=task.namespace,
            task_queue=self._task_queue,
            workflow_id=task.execution.workflow_id,
            run_id=task.execution.run_id,
            workflow_type=task.workflow_type,
            activity_id=task.activity_id,
            activity_type=task.activity_type,
            idempotency_key=task.idempotency_key,
            attempt=task.attempt,
            heartbeat_details=tuple(self._converter.from_payloads(task.heartbeat_details)),
            trace_context=dict(task.trace_context),
            deadline=_moment(task.deadline_ms) if task.deadline_ms else None,
            scheduled_time=_moment(task.scheduled_time_ms),
            started_time=_moment(task.started_time_ms),
            start_to_close_timeout=_span(task.start_to_close_timeout_ms),
            schedule_to_close_timeout=_span(task.schedule_to_close_timeout_ms),
            heartbeat_timeout=_span(task.heartbeat_timeout_ms),
            task_token=task.task_token,
        )

    def arguments(self) -> list[Any]:
        """What to call the function with. Raises ConversionError."""
        types = self.definition.types_of(len(self.task.input.payloads))
        return self._converter.from_payloads(self.task.input, types)

    def heartbeat(self, details: tuple[object, ...]) -> None:
        cause = self._cause
        if cause is not None and asyncio._get_running_loop() is not self._user_loop:
            raise cause
        if details:
            self._newest.append(self._details(details))
        # Many heartbeats may come before the I/O loop gets to look: it is told once and takes the newest.
        if not self._posted:
            self._posted = True
            self._io.put(self._record)

    def cancel_cause(self) -> ActivityCancelled | None:
        return self._cause

    def finish(self, outcome: Outcome) -> None:
        """The code is done, and this came out."""
        self._io.put(lambda: self._settle(outcome))

    def _details(self, details: tuple[object, ...]) -> Payloads:
        payloads = self._converter.to_payloads(details, what="details")
        size_bytes = sum(len(payload.data) for payload in payloads.payloads)
        if size_bytes > limits.PAYLOAD_SIZE_BYTES:
            raise ValueError(
                f"heartbeat details of {self.task.idempotency_key} are {size_bytes} bytes, the limit is "
                f"{limits.PAYLOAD_SIZE_BYTES}: store them elsewhere and heartbeat their path"
            )
        return payloads

    def _record(self) -> None:
        self._posted = False
        self._heartbeats.record(self._newest.pop() if self._newest else None)

    def _settle(self, outcome: Outcome) -> None:
        if not self.outcome.done():
            self.outcome.set_result(outcome)


def _moment(ms: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=ms)


def _span(ms: int) -> timedelta | None:
    return timedelta(milliseconds=ms) if ms else None

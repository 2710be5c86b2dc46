"""Activities that a run asked for.

asked      the command is made       recorded → scheduled
scheduled  history has its event     completed, failed, timed out → closed
closed     the handle has its outcome
"""

from datetime import timedelta
from typing import Any

from towline.activity.options import ActivityOptions, RetryPolicy
from towline.api import common_pb2
from towline.api.command_pb2 import Command, ScheduleActivityTaskCommandAttributes
from towline.api.common_pb2 import Payloads
from towline.api.failure_pb2 import Failure
from towline.api.history_pb2 import EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, HistoryEvent
from towline.convert import DataConverter, DecodeError
from towline.convert.size import check_size
from towline.exceptions import ActivityError, RetryState
from towline.runtime.command import Asked
from towline.runtime.loop import DeterministicLoop
from towline.runtime.source_line import source_line
from towline.workflow.errors import NondeterminismError
from towline.workflow.request import ActivityHandle, ActivityRequest


class AskedActivity(Asked):
    """One activity: the command that asks for it, and the handle that user code waits on."""

    def __init__(
        self, request: ActivityRequest, handle: ActivityHandle[Any], command: Command, *, scheduled: dict[int, Any]
    ) -> None:
        self.request = request
        self.handle = handle
        self.command = command
        self.source = source_line()
        self._scheduled = scheduled

    def describe(self) -> str:
        return f"activity {self.handle.activity_id!r} of type {self.request.activity_type!r}"

    def matches(self, event: HistoryEvent) -> bool:
        scheduled = event.activity_task_scheduled
        return (
            event.event_type == EVENT_TYPE_ACTIVITY_TASK_SCHEDULED
            and scheduled.activity_id == self.handle.activity_id
            and scheduled.activity_type == self.request.activity_type
        )

    def recorded(self, event: HistoryEvent) -> None:
        self._scheduled[event.event_id] = self


class Activities:
    """All activities of one run. Ids are numbers from "1", in the order in which the code asks."""

    def __init__(self, loop: DeterministicLoop, converter: DataConverter) -> None:
        self._loop = loop
        self._converter = converter
        self._last_id = 0
        self._ids: set[str] = set()
        # By the event id of their ActivityTaskScheduled.
        self._scheduled: dict[int, AskedActivity] = {}

    def ask(self, request: ActivityRequest) -> AskedActivity:
        """Raises EncodeError if an argument cannot be written or is too large, ValueError if an option is wrong."""
        _check(request)
        activity_id = self._id_for(request)
        name = f"activity {activity_id!r} of type {request.activity_type!r}"
        payloads = self._converter.to_payloads(request.args, what=f"args[{{}}] of {name}")
        check_size(payloads, f"input of {name}")
        handle: ActivityHandle[Any] = ActivityHandle(activity_id, order=self._loop.next_order(), loop=self._loop)
        command = Command(schedule_activity=_attributes(request, activity_id, payloads))
        self._ids.add(activity_id)
        return AskedActivity(request, handle, command, scheduled=self._scheduled)

    def completed(self, event: HistoryEvent) -> None:
        """Give the handle its result, or the error that its result cannot be read."""
        attributes = event.activity_task_completed
        activity = self._close(attributes.scheduled_event_id, event)
        if activity.handle.done():
            return  # the code gave up waiting
        try:
            result = self._converter.from_result(attributes.result, activity.request.result_type)
        except DecodeError as error:
            activity.handle.set_exception(DecodeError(f"{activity.describe()}: {error}"))
        else:
            activity.handle.set_result(result)

    def failed(self, event: HistoryEvent) -> None:
        """Give the handle the failure."""
        attributes = event.activity_task_failed
        activity = self._close(attributes.scheduled_event_id, event)
        self._fail(activity, attributes, "failed", identity=attributes.identity)

    def timed_out(self, event: HistoryEvent) -> None:
        """Give the handle the time-out."""
        attributes = event.activity_task_timed_out
        activity = self._close(attributes.scheduled_event_id, event)
        self._fail(activity, attributes, "timed out", identity="")

    def _id_for(self, request: ActivityRequest) -> str:
        if request.activity_id is not None:
            if request.activity_id in self._ids:
                raise ValueError(
                    f"activity id {request.activity_id!r} is taken by an earlier activity of this run: "
                    "ids are used once, leave activity_id out to get the next number"
                )
            return request.activity_id
        self._last_id += 1
        while str(self._last_id) in self._ids:  # the code chose that number for another one
            self._last_id += 1
        return str(self._last_id)

    def _close(self, scheduled_event_id: int, event: HistoryEvent) -> AskedActivity:
        activity = self._scheduled.pop(scheduled_event_id, None)
        if activity is None:
            raise NondeterminismError(
                f"event {event.event_id} closes the activity that event {scheduled_event_id} scheduled, "
                "but no activity of this run stands there, or it was closed before: read the history again, whole"
            )
        return activity

    def _fail(self, activity: AskedActivity, attributes: Any, how: str, *, identity: str) -> None:
        if activity.handle.done():
            return  # the code gave up waiting
        failure: Failure = attributes.failure
        error = ActivityError(
            f"{activity.describe()} {how}",
            scheduled_event_id=attributes.scheduled_event_id,
            started_event_id=attributes.started_event_id,
            identity=identity,
            activity_type=activity.request.activity_type,
            activity_id=activity.handle.activity_id,
            retry_state=RetryState(attributes.retry_state) if attributes.retry_state in _RETRY_STATES else None,
        )
        error.__cause__ = self._converter.failures.from_failure(failure)
        activity.handle.set_exception(error)


_RETRY_STATES = frozenset(state.value for state in RetryState if state)


def _check(request: ActivityRequest) -> None:
    options = request.options
    if options.start_to_close_timeout is None and options.schedule_to_close_timeout is None:
        raise ValueError(
            f"activity {request.activity_type!r} has no time limit: set start_to_close_timeout (one attempt) or "
            "schedule_to_close_timeout (all attempts), in @activity.defn or in the call"
        )


def _attributes(
    request: ActivityRequest, activity_id: str, payloads: Payloads
) -> ScheduleActivityTaskCommandAttributes:
    options: ActivityOptions = request.options
    return ScheduleActivityTaskCommandAttributes(
        activity_id=activity_id,
        activity_type=request.activity_type,
        task_queue=options.task_queue or "",
        input=payloads,
        schedule_to_close_timeout_ms=_ms(options.schedule_to_close_timeout),
        schedule_to_start_timeout_ms=_ms(options.schedule_to_start_timeout),
        start_to_close_timeout_ms=_ms(options.start_to_close_timeout),
        heartbeat_timeout_ms=_ms(options.heartbeat_timeout),
        retry_policy=_retry_policy(options.retry_policy) if options.retry_policy is not None else None,
    )


def _retry_policy(policy: RetryPolicy) -> common_pb2.RetryPolicy:
    return common_pb2.RetryPolicy(
        initial_interval_ms=_ms(policy.initial_interval),
        backoff_coefficient=policy.backoff_coefficient,
        maximum_interval_ms=_ms(policy.maximum_interval),
        maximum_attempts=policy.maximum_attempts,
        non_retryable_error_types=policy.non_retryable_error_types,
    )


def _ms(duration: timedelta | None) -> int:
    """0: none. What is shorter than a millisecond is one."""
    return 0 if duration is None else max(1, duration // timedelta(milliseconds=1))

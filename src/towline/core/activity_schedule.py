"""The command that schedules an activity. The state table is in activity.py."""

from towline.api import common_pb2 as common
from towline.api import history_pb2 as history
from towline.api.command_pb2 import ScheduleActivityTaskCommandAttributes
from towline.api.history_pb2 import ActivityTaskScheduledEventAttributes
from towline.core import activity, retry
from towline.core.draft import Draft
from towline.core.failure import server_failed
from towline.core.refusal import invalid
from towline.core.task import TaskRow, activity_queue, activity_task_id
from towline.core.task_fails import TaskFails
from towline.core.validation import check_duration, check_id, check_optional_id, check_payloads
from towline.limits import PENDING_ACTIVITIES


def schedule(draft: Draft, command: ScheduleActivityTaskCommandAttributes, completed_event_id: int) -> None:
    """Append ActivityTaskScheduled, put its task and set its timers."""
    _check(draft, command)
    attributes = _scheduled(draft, command, completed_event_id)
    event_id = draft.append(history.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, activity_task_scheduled=attributes)
    draft.new_activity_ids.add(command.activity_id)
    _put(draft, event_id, attributes.task_queue)
    if attributes.schedule_to_start_timeout_ms:
        fire_at_ms = draft.now_ms + attributes.schedule_to_start_timeout_ms
        draft.set_timer(activity.timer_id(activity.SCHEDULE_TO_START, event_id), fire_at_ms)
    if attributes.schedule_to_close_timeout_ms:
        fire_at_ms = draft.now_ms + attributes.schedule_to_close_timeout_ms
        draft.set_timer(activity.timer_id(activity.SCHEDULE_TO_CLOSE, event_id), fire_at_ms)


def _scheduled(
    draft: Draft, command: ScheduleActivityTaskCommandAttributes, completed_event_id: int
) -> ActivityTaskScheduledEventAttributes:
    all_attempts_ms = command.schedule_to_close_timeout_ms
    one_attempt_ms = command.start_to_close_timeout_ms or all_attempts_ms
    return ActivityTaskScheduledEventAttributes(
        activity_id=command.activity_id,
        activity_type=command.activity_type,
        task_queue=command.task_queue or draft.state.task_queue,
        input=command.input if command.HasField("input") else None,
        schedule_to_close_timeout_ms=all_attempts_ms,
        schedule_to_start_timeout_ms=command.schedule_to_start_timeout_ms,
        start_to_close_timeout_ms=min(one_attempt_ms, all_attempts_ms) if all_attempts_ms else one_attempt_ms,
        heartbeat_timeout_ms=command.heartbeat_timeout_ms,
        workflow_task_completed_event_id=completed_event_id,
        retry_policy=retry.with_defaults(command.retry_policy),
    )


def _put(draft: Draft, event_id: int, task_queue: str) -> None:
    state = draft.state
    row = TaskRow(
        namespace=state.namespace,
        queue=activity_queue(task_queue),
        task_id=activity_task_id(state.run_id, event_id),
        run_id=state.run_id,
        workflow_id=state.workflow_id,
        scheduled_event_id=event_id,
        attempt=1,
        visible_at_ms=draft.now_ms,
    )
    draft.put(row)


def _check(draft: Draft, command: ScheduleActivityTaskCommandAttributes) -> None:
    state = draft.state
    check_id(command.activity_id, "activity_id")
    of = f"{state.workflow_id}/{command.activity_id}"
    check_id(command.activity_type, f"activity_type of {of}")
    check_optional_id(command.task_queue, f"task_queue of {of}")
    check_payloads(command.input, f"activity input of {of}", advice="store it elsewhere and pass its path")
    _check_timeouts(command, of)
    if command.HasField("retry_policy"):
        retry.check_retry_policy(command.retry_policy, of)
    if command.activity_id in state.activity_ids or command.activity_id in draft.new_activity_ids:
        raise invalid(
            f"activity {of} was scheduled before: choose another activity_id, as its idempotency key must name one only"
        )
    _check_pending(draft, of)


def _check_timeouts(command: ScheduleActivityTaskCommandAttributes, of: str) -> None:
    check_duration(command.schedule_to_close_timeout_ms, f"schedule_to_close_timeout_ms of {of}")
    check_duration(command.schedule_to_start_timeout_ms, f"schedule_to_start_timeout_ms of {of}")
    check_duration(command.start_to_close_timeout_ms, f"start_to_close_timeout_ms of {of}")
    check_duration(command.heartbeat_timeout_ms, f"heartbeat_timeout_ms of {of}")
    if not command.schedule_to_close_timeout_ms and not command.start_to_close_timeout_ms:
        raise invalid(f"activity {of} has no time limit: set start_to_close_timeout_ms or schedule_to_close_timeout_ms")


def _check_pending(draft: Draft, of: str) -> None:
    pending = len(draft.state.activities) + len(draft.new_activity_ids)
    if pending >= PENDING_ACTIVITIES:
        raise TaskFails(
            common.WORKFLOW_TASK_FAILED_CAUSE_PENDING_ACTIVITIES_LIMIT_EXCEEDED,
            server_failed(
                f"activity {of} would be pending beside {pending:,} others, the limit is {PENDING_ACTIVITIES:,}: "
                "wait for some of them before scheduling more"
            ),
        )

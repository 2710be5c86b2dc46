"""The activity: work that a workflow asked for.

    state      input                              what happens                                            next state
    ------------------------------------------------------------------------------------------------------------------
    none       schedule (a command)               append Scheduled, put the task, set its timers          waiting
    waiting    deliver                            the row only: lease, deadline of the attempt            running
    running    heartbeat                          the row only: lease moved on, details kept              running
    running    complete                           append Started{attempt, k}, Completed                   closed
    running    fail, may be tried again           the row only: attempt + 1, visible after the delay      waiting
    running    fail, for good                     append Started, Failed                                  closed
    running    lease expires, may be tried again  the row only: attempt + 1, visible after the delay      waiting
    running    lease expires, for good            append Started, TimedOut                                closed
    running    release                            the row only, same attempt, visible now                 waiting
    waiting    schedule_to_start passes           append TimedOut (first attempt only)                    closed
    any        schedule_to_close passes           append Started if it runs, TimedOut                     closed
    any        the run closes                     the task is acknowledged, the timers are cleared        closed

Every closing event is news for the workflow task. Attempts that are tried again leave no trace in history: the attempt,
the last failure and the heartbeat details live in the task's row.
"""

from towline.api import history_pb2 as history
from towline.api.history_pb2 import ActivityTaskStartedEventAttributes, HistoryEvent
from towline.api.token_pb2 import TaskDetails
from towline.core import workflow_task
from towline.core.draft import Draft
from towline.core.state import Activity, CorruptHistory, RunState
from towline.core.task import TaskRow

SCHEDULE_TO_START = "schedule_to_start"
SCHEDULE_TO_CLOSE = "schedule_to_close"


def apply_scheduled(state: RunState, event: HistoryEvent) -> None:
    scheduled = event.activity_task_scheduled
    activity_id = scheduled.activity_id
    state.activity_ids.add(activity_id)
    state.activities[event.event_id] = Activity(
        scheduled_event_id=event.event_id,
        activity_id=activity_id,
        activity_type=scheduled.activity_type,
        task_queue=scheduled.task_queue,
        input=scheduled.input,
        scheduled_at_ms=event.event_time_ms,
        schedule_to_close_timeout_ms=scheduled.schedule_to_close_timeout_ms,
        schedule_to_start_timeout_ms=scheduled.schedule_to_start_timeout_ms,
        start_to_close_timeout_ms=scheduled.start_to_close_timeout_ms,
        heartbeat_timeout_ms=scheduled.heartbeat_timeout_ms,
        retry_policy=scheduled.retry_policy,
    )


def apply_started(state: RunState, event: HistoryEvent) -> None:
    """Nothing: the closing event follows in the same batch."""


def apply_completed(state: RunState, event: HistoryEvent) -> None:
    _apply_closed(state, event, event.activity_task_completed.scheduled_event_id)


def apply_failed(state: RunState, event: HistoryEvent) -> None:
    _apply_closed(state, event, event.activity_task_failed.scheduled_event_id)


def apply_timed_out(state: RunState, event: HistoryEvent) -> None:
    _apply_closed(state, event, event.activity_task_timed_out.scheduled_event_id)


def _apply_closed(state: RunState, event: HistoryEvent, scheduled_event_id: int) -> None:
    if state.activities.pop(scheduled_event_id, None) is None:
        raise CorruptHistory(
            f"run {state.run_id}: event {event.event_id} closes activity {scheduled_event_id}, which is not pending"
        )
    workflow_task.apply_news(state, event)


def timer_id(what: str, scheduled_event_id: int) -> str:
    """The id of one of an activity's timers."""
    return f"{what}/{scheduled_event_id}"


def timer_ids(activity: Activity) -> list[str]:
    """The timers that the activity may have set."""
    timers = []
    if activity.schedule_to_start_timeout_ms:
        timers.append(timer_id(SCHEDULE_TO_START, activity.scheduled_event_id))
    if activity.schedule_to_close_timeout_ms:
        timers.append(timer_id(SCHEDULE_TO_CLOSE, activity.scheduled_event_id))
    return timers


def starts_until_ms(activity: Activity) -> int:
    """When its first attempt must have started; 0: no such limit."""
    limit_ms = activity.schedule_to_start_timeout_ms
    return activity.scheduled_at_ms + limit_ms if limit_ms else 0


def closes_until_ms(activity: Activity) -> int:
    """When it must have closed; 0: no such limit."""
    limit_ms = activity.schedule_to_close_timeout_ms
    return activity.scheduled_at_ms + limit_ms if limit_ms else 0


def append_started(draft: Draft, row: TaskRow, details: TaskDetails) -> int:
    """Write the attempt that runs; its closing event follows. Returns the event's id."""
    started = ActivityTaskStartedEventAttributes(
        scheduled_event_id=row.scheduled_event_id,
        identity=details.identity,
        attempt=row.attempt,
        lease_token=row.lease_token,
        last_failure=details.last_failure if details.HasField("last_failure") else None,
    )
    return draft.append_at(row.started_at_ms, history.EVENT_TYPE_ACTIVITY_TASK_STARTED, activity_task_started=started)


def closed(draft: Draft, activity: Activity, row: TaskRow) -> None:
    """The closing event was appended: the task and its timers go, and the workflow's code must learn of it."""
    draft.ack(row)
    for timer in timer_ids(activity):
        draft.clear_timer(timer)
    workflow_task.trigger(draft)

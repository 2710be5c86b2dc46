"""The workflow task: the right to decide a run's next step.

S is the event id of its WorkflowTaskScheduled, T that of its latest WorkflowTaskStarted, k its lease token. "News" is
an event that the workflow's code must see: start, signal, the end of an activity.

    state    input                     what happens                                  next state
    ---------------------------------------------------------------------------------------------------
    none     news                      append Scheduled{attempt 1}, put the task     waiting
    waiting  news                      the row goes back to attempt 1, visible now   waiting
    waiting  deliver, T to be written  append Started; T is its id                   running
    waiting  deliver, T virtual        T = last event id + 1, in the row only        running, T virtual
    running  news                      append it behind T (first a virtual T)        running
    running  complete                  append Completed{S, T}, the commands' events  none
             - news behind T           ... and Scheduled{attempt 1}                  waiting
             - the same, would close   append Failed{UNHANDLED_COMMAND}, Scheduled   waiting
    running  fail, none written yet    append Failed{S, T}, Scheduled{attempt + 1}   waiting
             - news behind T           append Failed{S, T}, Scheduled{attempt 1}     waiting
             - one written already     attempt + 1 in the row, nothing appended      waiting
    running  lease expires             attempt + 1 in the row (1 if news behind T)   waiting
    running  release                   the row only, same attempt (1 if news)        waiting
    any      the run closes            the task is acknowledged                      none

A delivery writes its T where it is the first or second attempt and history has fewer Started events for this S than the
attempt's number (`started_is_due`): two at most, however often the task is given back and delivered again. Any other T
is virtual: the history stays short while a task comes to nothing again and again. Whoever appends to the run while the
lease lives writes that Started event first (`write_started`): so it gets exactly the id T that the worker was told.
"""

from towline.api import history_pb2 as history
from towline.api.history_pb2 import (
    HistoryEvent,
    WorkflowTaskScheduledEventAttributes,
    WorkflowTaskStartedEventAttributes,
)
from towline.core import lease
from towline.core.draft import Draft
from towline.core.state import Run, RunState, WorkflowTask
from towline.core.task import TaskRow, workflow_queue, workflow_task_id
from towline.limits import SUGGEST_CONTINUE_AS_NEW_BYTES, SUGGEST_CONTINUE_AS_NEW_EVENTS

FIRST_ATTEMPT = 1
# The started event of a later attempt is written only together with what follows it.
LAST_WRITTEN_ATTEMPT = 2


def apply_scheduled(state: RunState, event: HistoryEvent) -> None:
    scheduled = event.workflow_task_scheduled
    state.workflow_task = WorkflowTask(
        scheduled_event_id=event.event_id,
        task_queue=scheduled.task_queue,
        timeout_ms=scheduled.start_to_close_timeout_ms,
        attempt=scheduled.attempt,
        failure_written=scheduled.attempt > FIRST_ATTEMPT,
    )


def apply_started(state: RunState, event: HistoryEvent) -> None:
    if state.workflow_task is not None:
        state.workflow_task.started_event_id = event.event_id
        state.workflow_task.started_count += 1


def apply_completed(state: RunState, event: HistoryEvent) -> None:
    state.previous_started_event_id = event.workflow_task_completed.started_event_id
    state.workflow_task = None


def apply_failed(state: RunState, event: HistoryEvent) -> None:
    state.workflow_task = None


def apply_news(state: RunState, event: HistoryEvent) -> None:
    """What every event does that the workflow's code must see: it also makes the next failure worth writing again."""
    state.last_news_event_id = event.event_id
    if state.workflow_task is not None:
        state.workflow_task.failure_written = False


def trigger(draft: Draft) -> None:
    """News was appended: see to it that a worker is told."""
    if not draft.workflow_task_pending:
        schedule(draft, attempt=FIRST_ATTEMPT, visible_at_ms=draft.now_ms)
        return
    row = pending_row(draft.run)
    if row is None or lease.live(row, draft.now_ms):
        return
    if row.leased() or row.attempt != FIRST_ATTEMPT or row.visible_at_ms > draft.now_ms:
        lease.give_back(draft, row, attempt=FIRST_ATTEMPT, visible_at_ms=draft.now_ms)


def schedule(draft: Draft, *, attempt: int, visible_at_ms: int, details: bytes = b"") -> None:
    """Append WorkflowTaskScheduled and put its task."""
    state = draft.state
    scheduled = WorkflowTaskScheduledEventAttributes(
        task_queue=state.task_queue, start_to_close_timeout_ms=state.workflow_task_timeout_ms, attempt=attempt
    )
    event_id = draft.append(history.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED, workflow_task_scheduled=scheduled)
    draft.workflow_task_pending = True
    row = TaskRow(
        namespace=state.namespace,
        queue=workflow_queue(state.task_queue),
        task_id=workflow_task_id(state.run_id, event_id),
        run_id=state.run_id,
        workflow_id=state.workflow_id,
        scheduled_event_id=event_id,
        attempt=attempt,
        visible_at_ms=visible_at_ms,
        details=details,
    )
    draft.put(row)


def pending_row(run: Run) -> TaskRow | None:
    """The row of the run's pending workflow task."""
    pending = run.state.workflow_task
    if pending is None:
        return None
    return run.tasks.get(workflow_task_id(run.state.run_id, pending.scheduled_event_id))


def started_is_due(pending: WorkflowTask, attempt: int) -> bool:
    """Whether a delivery as that attempt appends its WorkflowTaskStarted; otherwise its T is virtual."""
    return attempt <= LAST_WRITTEN_ATTEMPT and pending.started_count < attempt


def write_started(draft: Draft) -> None:
    """Before anything else is appended: if a worker runs the workflow task with a virtual T, write it."""
    row = pending_row(draft.run)
    if row is None or row.started_event_id != draft.next_event_id or not lease.live(row, draft.now_ms):
        return
    started = started_attributes(draft.state, row.scheduled_event_id, lease.details(row).identity)
    draft.append_at(row.started_at_ms, history.EVENT_TYPE_WORKFLOW_TASK_STARTED, workflow_task_started=started)


def virtual_started_event(run: Run, row: TaskRow) -> HistoryEvent | None:
    """The WorkflowTaskStarted of a delivery that history does not have (yet); None: it has it.

    `row` is the lease. The event is, to the byte, the one that will be written if the worker's decision is.
    """
    if row.started_event_id <= run.state.last_event_id:
        return None
    return HistoryEvent(
        event_id=row.started_event_id,
        event_time_ms=row.started_at_ms,
        event_type=history.EVENT_TYPE_WORKFLOW_TASK_STARTED,
        workflow_task_started=started_attributes(run.state, row.scheduled_event_id, lease.details(row).identity),
    )


def started_attributes(state: RunState, scheduled_event_id: int, identity: str) -> WorkflowTaskStartedEventAttributes:
    """The attributes of a WorkflowTaskStarted that follows the last event of `state`."""
    return WorkflowTaskStartedEventAttributes(
        scheduled_event_id=scheduled_event_id,
        identity=identity,
        history_size_bytes=state.history_size_bytes,
        suggest_continue_as_new=suggest_continue_as_new(state),
    )


def suggest_continue_as_new(state: RunState) -> bool:
    """The history is so long that replaying it costs noticeable time."""
    return (
        state.last_event_id > SUGGEST_CONTINUE_AS_NEW_EVENTS or state.history_size_bytes > SUGGEST_CONTINUE_AS_NEW_BYTES
    )


def attempt_after(draft: Draft, row: TaskRow) -> int:
    """The attempt that follows one which led to nothing: the first of a new count where there is news behind its T."""
    return FIRST_ATTEMPT if has_news(draft.state, row) else row.attempt + 1


def has_news(state: RunState, row: TaskRow) -> bool:
    """Something came that the delivery `row` does not know of."""
    return state.last_news_event_id > row.started_event_id

"""What a request does to a run: the way in to the core."""

from collections.abc import Callable, Mapping
from typing import Final, assert_never

from towline.core import (
    activity,
    activity_report,
    activity_task,
    activity_timeout,
    execution,
    lease,
    signal,
    workflow_task_lease,
    workflow_task_report,
)
from towline.core.decision import Decision, Delivered, Outcome, Stale
from towline.core.draft import Draft
from towline.core.refusal import fenced, not_found
from towline.core.request import (
    CompleteActivityTask,
    CompleteWorkflowTask,
    DeliverTask,
    FailActivityTask,
    FailWorkflowTask,
    LeaseExpired,
    RecordHeartbeat,
    ReleaseTask,
    Request,
    RunRequest,
    SignalWorkflow,
    StartWorkflow,
    TerminateWorkflow,
    TimerFired,
)
from towline.core.state import Run
from towline.core.task import ACTIVITY_QUEUE_PREFIX, WORKFLOW_QUEUE_PREFIX, TaskRow


def decide(run: Run | None, request: Request, *, now_ms: int) -> Decision:
    """What the request does to the run, which is left as it is. `run` None: there is none.

    Raises Refused, which changes nothing. StartWorkflow makes a new run, whatever `run` is: see start.py.
    """
    if isinstance(request, StartWorkflow):
        return execution.start(request, now_ms)
    if run is None:
        return _without_run(request)
    draft = Draft(run, now_ms)
    outcome = _dispatch(draft, request)
    if draft.events and execution.enforce_history_limit(draft) and isinstance(outcome, Delivered):
        outcome = Stale()
    return Decision(draft.events, draft.effects, outcome)


def _dispatch(draft: Draft, request: RunRequest) -> Outcome:
    match request:
        case DeliverTask():
            return _deliver(draft, request)
        case CompleteWorkflowTask():
            return workflow_task_report.complete(draft, request)
        case CompleteActivityTask():
            return activity_report.complete(draft, request)
        case RecordHeartbeat():
            return activity_report.heartbeat(draft, request)
        case SignalWorkflow():
            return signal.signal(draft, request)
        case FailActivityTask():
            return activity_report.fail(draft, request)
        case FailWorkflowTask():
            return workflow_task_report.fail(draft, request)
        case TimerFired():
            return _fire(draft, request)
        case LeaseExpired():
            return _expire(draft, request)
        case ReleaseTask():
            return _release(draft, request)
        case TerminateWorkflow():
            return execution.terminate(draft, request)
        case _:
            assert_never(request)


def _without_run(request: RunRequest) -> Decision:
    match request:
        case DeliverTask() | LeaseExpired() | TimerFired():
            return Decision(outcome=Stale())
        case SignalWorkflow() | TerminateWorkflow():
            execution_name = request.message.execution
            raise not_found(
                f"there is no workflow {execution_name.workflow_id!r}"
                + (f" with run {execution_name.run_id!r}" if execution_name.run_id else "")
                + f" in namespace {request.message.namespace!r}, or its retention is over: check the ids, or start it"
            )
        case (
            ReleaseTask()
            | CompleteWorkflowTask()
            | FailWorkflowTask()
            | CompleteActivityTask()
            | FailActivityTask()
            | RecordHeartbeat()
        ):
            token = request.token
            raise fenced(f"run {token.run_id} of task {token.task_id} is gone, its retention is over: drop the work")
        case _:
            assert_never(request)


# By the kind of queue that the task is on.
_DELIVER: Final[Mapping[str, Callable[[Draft, DeliverTask, TaskRow], Outcome]]] = {
    WORKFLOW_QUEUE_PREFIX: workflow_task_lease.deliver,
    ACTIVITY_QUEUE_PREFIX: activity_task.deliver,
}
_EXPIRE: Final[Mapping[str, Callable[[Draft, LeaseExpired, TaskRow], Outcome]]] = {
    WORKFLOW_QUEUE_PREFIX: workflow_task_lease.expire,
    ACTIVITY_QUEUE_PREFIX: activity_task.expire,
}
_RELEASE: Final[Mapping[str, Callable[[Draft, ReleaseTask, TaskRow], Outcome]]] = {
    WORKFLOW_QUEUE_PREFIX: workflow_task_lease.release,
    ACTIVITY_QUEUE_PREFIX: activity_task.release,
}
# By the part of the timer's id before the event id.
_FIRE: Final[Mapping[str, Callable[[Draft, TimerFired, int], Outcome]]] = {
    activity.SCHEDULE_TO_START: activity_timeout.fired,
    activity.SCHEDULE_TO_CLOSE: activity_timeout.fired,
}


def _kind(row: TaskRow) -> str:
    return row.queue[: row.queue.index(":") + 1]


def _deliver(draft: Draft, request: DeliverTask) -> Outcome:
    row = draft.run.tasks.get(request.task_id)
    return Stale() if row is None else _DELIVER[_kind(row)](draft, request, row)


def _expire(draft: Draft, request: LeaseExpired) -> Outcome:
    row = draft.run.tasks.get(request.task_id)
    return Stale() if row is None else _EXPIRE[_kind(row)](draft, request, row)


def _release(draft: Draft, request: ReleaseTask) -> Outcome:
    row = lease.held(draft, request.token)
    return _RELEASE[_kind(row)](draft, request, row)


def _fire(draft: Draft, request: TimerFired) -> Outcome:
    what, _, event_id = request.timer_id.partition("/")
    handler = _FIRE.get(what)
    if handler is None or not event_id.isdecimal():
        draft.clear_timer(request.timer_id)
        return Stale()
    return handler(draft, request, int(event_id))

"""The run itself.

    state   input                          what happens                                           next state
    ----------------------------------------------------------------------------------------------------------
    none    start                          append Started, Scheduled of the first workflow task   open
    open    complete (a command)           append Completed                                       closed
    open    fail (a command)               append Failed                                          closed
    open    terminate                      append Terminated; the worker is not asked             closed
    open    any append over a hard limit   append Terminated behind it                            closed
    closed  anything                       nothing is appended any more                           closed

Closing a run acknowledges all its tasks and clears all its timers in the same batch.
"""

from towline.api import common_pb2 as common
from towline.api import history_pb2 as history
from towline.api.command_pb2 import (
    CompleteWorkflowExecutionCommandAttributes,
    FailWorkflowExecutionCommandAttributes,
)
from towline.api.history_pb2 import (
    HistoryEvent,
    WorkflowExecutionCompletedEventAttributes,
    WorkflowExecutionFailedEventAttributes,
    WorkflowExecutionStartedEventAttributes,
    WorkflowExecutionTerminatedEventAttributes,
)
from towline.api.workflow_service_pb2 import StartWorkflowRequest
from towline.core import activity, workflow_task
from towline.core.decision import Decision, Done, Outcome
from towline.core.draft import Draft, new_event
from towline.core.refusal import not_found
from towline.core.request import StartWorkflow, TerminateWorkflow
from towline.core.state import Run, RunState
from towline.core.validation import (
    check_duration,
    check_failure,
    check_id,
    check_optional_id,
    check_payloads,
    check_size,
    format_bytes,
)
from towline.limits import (
    HISTORY_LIMIT_BYTES,
    HISTORY_LIMIT_EVENTS,
    MAXIMUM_WORKFLOW_TASK_TIMEOUT_MS,
    REASON_SIZE_BYTES,
    TRACE_CONTEXT_SIZE_BYTES,
    WORKFLOW_TASK_TIMEOUT_MS,
)

SERVER_IDENTITY = "towline-server"


def started_state(event: HistoryEvent) -> RunState:
    """The state of a run that has just this event, its first."""
    started = event.workflow_execution_started
    return RunState(
        namespace=started.namespace,
        workflow_id=started.workflow_id,
        run_id=started.run_id,
        first_execution_run_id=started.first_execution_run_id,
        workflow_type=started.workflow_type,
        task_queue=started.task_queue,
        workflow_task_timeout_ms=started.workflow_task_timeout_ms,
        start_request_id=started.request_id,
        start_time_ms=event.event_time_ms,
        trace_context=dict(started.trace_context),
        status=common.WORKFLOW_EXECUTION_STATUS_RUNNING,
        last_event_id=event.event_id,
        history_size_bytes=event.ByteSize(),
        last_news_event_id=event.event_id,
    )


def apply_completed(state: RunState, event: HistoryEvent) -> None:
    _apply_closed(state, event, common.WORKFLOW_EXECUTION_STATUS_COMPLETED)


def apply_failed(state: RunState, event: HistoryEvent) -> None:
    _apply_closed(state, event, common.WORKFLOW_EXECUTION_STATUS_FAILED)


def apply_terminated(state: RunState, event: HistoryEvent) -> None:
    _apply_closed(state, event, common.WORKFLOW_EXECUTION_STATUS_TERMINATED)


def _apply_closed(state: RunState, event: HistoryEvent, status: common.WorkflowExecutionStatus.ValueType) -> None:
    state.status = status
    state.close_time_ms = event.event_time_ms
    state.workflow_task = None
    state.activities.clear()


def start(request: StartWorkflow, now_ms: int) -> Decision:
    """Start a run. Whether its workflow id is free is judged in start.py."""
    message = request.message
    _check_start(message)
    attributes = _started(request.run_id, message)
    started, _ = new_event(
        1, now_ms, history.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, workflow_execution_started=attributes
    )
    draft = Draft(Run(started_state(started)), now_ms)
    workflow_task.trigger(draft)
    return Decision([started, *draft.events], draft.effects)


def _check_start(message: StartWorkflowRequest) -> None:
    check_id(message.workflow_id, "workflow_id")
    check_id(message.workflow_type, "workflow_type")
    check_id(message.task_queue, "task_queue")
    check_optional_id(message.request_id, "request_id")
    of = message.workflow_id
    limit_ms = MAXIMUM_WORKFLOW_TASK_TIMEOUT_MS
    check_duration(message.workflow_task_timeout_ms, f"workflow_task_timeout_ms of {of}", limit_ms=limit_ms)
    check_payloads(message.input, f"workflow input of {of}", advice="store it elsewhere and pass its path")
    check_size(
        sum(len(key.encode()) + len(value.encode()) for key, value in message.trace_context.items()),
        f"trace context of {of}",
        limit_bytes=TRACE_CONTEXT_SIZE_BYTES,
        advice="pass fewer headers",
    )


def _started(run_id: str, message: StartWorkflowRequest) -> WorkflowExecutionStartedEventAttributes:
    return WorkflowExecutionStartedEventAttributes(
        namespace=message.namespace,
        workflow_id=message.workflow_id,
        run_id=run_id,
        workflow_type=message.workflow_type,
        task_queue=message.task_queue,
        input=message.input if message.HasField("input") else None,
        workflow_task_timeout_ms=message.workflow_task_timeout_ms or WORKFLOW_TASK_TIMEOUT_MS,
        identity=message.identity,
        request_id=message.request_id,
        first_execution_run_id=run_id,
        trace_context=message.trace_context,
    )


def complete(draft: Draft, command: CompleteWorkflowExecutionCommandAttributes, completed_event_id: int) -> None:
    """The command that ends the run with a result."""
    what = f"workflow result of {draft.state.workflow_id}"
    check_payloads(command.result, what, advice="store it elsewhere and return its path")
    completed = WorkflowExecutionCompletedEventAttributes(
        result=command.result if command.HasField("result") else None,
        workflow_task_completed_event_id=completed_event_id,
    )
    draft.append(history.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED, workflow_execution_completed=completed)
    close(draft)


def fail(draft: Draft, command: FailWorkflowExecutionCommandAttributes, completed_event_id: int) -> None:
    """The command that ends the run with a failure."""
    check_failure(command.failure, f"workflow failure of {draft.state.workflow_id}")
    failed = WorkflowExecutionFailedEventAttributes(
        failure=command.failure,
        workflow_task_completed_event_id=completed_event_id,
        retry_state=common.RETRY_STATE_RETRY_POLICY_NOT_SET,
    )
    draft.append(history.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED, workflow_execution_failed=failed)
    close(draft)


def terminate(draft: Draft, request: TerminateWorkflow) -> Outcome:
    """Somebody ends the run from outside."""
    check_open(draft, advice="there is nothing left to terminate")
    message = request.message
    what = f"termination of {draft.state.workflow_id}"
    check_payloads(message.details, what, advice="store its details elsewhere and pass their path")
    check_size(
        len(message.reason.encode()),
        f"termination reason of {draft.state.workflow_id}",
        limit_bytes=REASON_SIZE_BYTES,
        advice="shorten it",
    )
    workflow_task.write_started(draft)
    terminated = WorkflowExecutionTerminatedEventAttributes(
        reason=message.reason,
        details=message.details if message.HasField("details") else None,
        identity=message.identity,
    )
    draft.append(history.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED, workflow_execution_terminated=terminated)
    close(draft)
    return Done()


def check_open(draft: Draft, *, advice: str) -> None:
    """Raises Refused (NOT_FOUND): clients look for open runs, and this is none."""
    if not draft.open:
        state = draft.state
        closed = f"closed ({state.status_name()})"
        raise not_found(f"workflow {state.workflow_id} (run {state.run_id}) is {closed}: {advice}")


def close(draft: Draft) -> None:
    """The closing event was appended: nothing of the run may stay behind."""
    draft.close([timer for pending in draft.state.activities.values() for timer in activity.timer_ids(pending)])


def enforce_history_limit(draft: Draft) -> bool:
    """Terminate an open run that what was appended makes too long. Returns whether it did."""
    if not draft.open:
        return False
    events = draft.next_event_id - 1
    size_bytes = draft.state.history_size_bytes + draft.size_bytes
    if events <= HISTORY_LIMIT_EVENTS and size_bytes <= HISTORY_LIMIT_BYTES:
        return False
    reason = (
        f"history has {events:,} events of {format_bytes(size_bytes)}, the limit is {HISTORY_LIMIT_EVENTS:,} events or "
        f"{format_bytes(HISTORY_LIMIT_BYTES)}: continue as new before that"
    )
    terminated = WorkflowExecutionTerminatedEventAttributes(reason=reason, identity=SERVER_IDENTITY)
    draft.append(history.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED, workflow_execution_terminated=terminated)
    close(draft)
    return True

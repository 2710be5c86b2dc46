"""Signals: messages to an open run.

input                                what happens
-------------------------------------------------------------------------------------
signal with a request id seen        nothing, also on a closed run: it was taken before
signal to an open run                append Signaled; it is news for the workflow task
signal to a closed run               refused, NOT_FOUND
signal beyond the limit of a run     refused, RESOURCE_EXHAUSTED
"""

from towline.api import history_pb2 as history
from towline.api.history_pb2 import HistoryEvent, WorkflowExecutionSignaledEventAttributes
from towline.core import execution, workflow_task
from towline.core.decision import Done, Outcome
from towline.core.draft import Draft
from towline.core.refusal import Refused
from towline.core.request import SignalWorkflow
from towline.core.state import RunState
from towline.core.validation import check_id, check_optional_id, check_payloads
from towline.limits import SIGNALS
from towline.status import Status


def apply_signaled(state: RunState, event: HistoryEvent) -> None:
    request_id = event.workflow_execution_signaled.request_id
    if request_id:
        state.signal_request_ids.add(request_id)
    state.signal_count += 1
    workflow_task.apply_news(state, event)


def signal(draft: Draft, request: SignalWorkflow) -> Outcome:
    """Append the signal and see to it that the workflow's code learns of it."""
    message = request.message
    check_id(message.signal_name, "signal_name")
    check_optional_id(message.request_id, "request_id")
    what = f"signal input of {draft.state.workflow_id}/{message.signal_name}"
    check_payloads(message.input, what, advice="store it elsewhere and pass its path")
    if message.request_id in draft.state.signal_request_ids:
        return Done()
    execution.check_open(draft, advice="start it again, or signal an open run")
    _check_count(draft.state)
    workflow_task.write_started(draft)
    signaled = WorkflowExecutionSignaledEventAttributes(
        signal_name=message.signal_name,
        input=message.input if message.HasField("input") else None,
        identity=message.identity,
        request_id=message.request_id,
    )
    draft.append(history.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED, workflow_execution_signaled=signaled)
    workflow_task.trigger(draft)
    return Done()


def _check_count(state: RunState) -> None:
    if state.signal_count >= SIGNALS:
        raise Refused(
            Status.RESOURCE_EXHAUSTED,
            f"run {state.run_id} of workflow {state.workflow_id} has had {state.signal_count:,} signals, "
            f"the limit is {SIGNALS:,}: let the workflow continue as new, or signal another one",
        )

"""Requests about a run that is not stored: it never was, or its retention is over."""

import pytest

from tests.core.bench import Bench
from tests.core.refusals import expect_refusal
from towline.api.task_service_pb2 import (
    CompleteActivityTaskRequest,
    CompleteWorkflowTaskRequest,
    FailActivityTaskRequest,
    FailWorkflowTaskRequest,
    RecordHeartbeatRequest,
)
from towline.api.token_pb2 import TaskToken
from towline.api.workflow_service_pb2 import SignalWorkflowRequest, TerminateWorkflowRequest
from towline.core import request as ask
from towline.core.decision import Stale
from towline.status import Status


@pytest.mark.parametrize(
    "request_",
    [ask.DeliverTask("run-9/wt/2", "w", 1), ask.LeaseExpired("run-9/wt/2", 1), ask.TimerFired("schedule_to_close/5")],
)
def test_hints_about_a_run_that_is_gone_are_stale(request_: ask.Request) -> None:
    decision = Bench().ask(request_)
    assert (decision.outcome, decision.events, decision.effects) == (Stale(), [], [])


WORKFLOW_TASK = TaskToken(run_id="run-9", task_id="run-9/wt/2")
ACTIVITY_TASK = TaskToken(run_id="run-9", task_id="run-9/a/5")


@pytest.mark.parametrize(
    "request_",
    [
        ask.CompleteWorkflowTask(WORKFLOW_TASK, CompleteWorkflowTaskRequest()),
        ask.FailWorkflowTask(WORKFLOW_TASK, FailWorkflowTaskRequest()),
        ask.CompleteActivityTask(ACTIVITY_TASK, CompleteActivityTaskRequest()),
        ask.FailActivityTask(ACTIVITY_TASK, FailActivityTaskRequest()),
        ask.RecordHeartbeat(ACTIVITY_TASK, RecordHeartbeatRequest()),
        ask.ReleaseTask(ACTIVITY_TASK),
    ],
    ids=lambda request_: type(request_).__name__,
)
def test_reports_on_a_run_that_is_gone_are_fenced(request_: ask.Request) -> None:
    box = Bench()
    with expect_refusal(box, Status.FAILED_PRECONDITION, "run-9", "its retention is over: drop the work"):
        box.ask(request_)


@pytest.mark.parametrize("message", [SignalWorkflowRequest(signal_name="poke"), TerminateWorkflowRequest()])
def test_news_for_a_run_that_is_gone_finds_none(message: SignalWorkflowRequest | TerminateWorkflowRequest) -> None:
    box = Bench()
    message.namespace = "default"
    message.execution.workflow_id, message.execution.run_id = "demo-9", "run-9"
    request = (
        ask.SignalWorkflow(message) if isinstance(message, SignalWorkflowRequest) else ask.TerminateWorkflow(message)
    )
    words = ("there is no workflow 'demo-9' with run 'run-9' in namespace 'default'", "its retention is over")
    with expect_refusal(box, Status.NOT_FOUND, *words):
        box.ask(request)

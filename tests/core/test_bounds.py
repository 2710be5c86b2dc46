"""Whatever comes in, what goes into a run's history can be read again: no event too large, none nested too deep."""

from collections.abc import Callable

import pytest

from tests.core.bench import Bench, application_failure, details, fail_workflow, payloads, schedule_activity
from tests.core.refusals import expect_refusal
from towline.api.common_pb2 import Payload, Payloads, RetryPolicy
from towline.api.failure_pb2 import Failure
from towline.api.history_pb2 import History
from towline.api.task_service_pb2 import CompleteWorkflowTaskResponse, PollWorkflowTaskResponse
from towline.api.workflow_service_pb2 import SignalWorkflowRequest
from towline.core import request as ask
from towline.core.decision import Decision
from towline.core.validation import failure_depth
from towline.limits import EVENT_SIZE_BYTES, FAILURE_DEPTH, PAYLOAD_SIZE_BYTES, REASON_SIZE_BYTES
from towline.status import Status

DEEP_GROUPS = 90
# Field 31 of any message, unknown to all of ours: groups within groups, which protobuf counts as nesting.
UNKNOWN = b"\xfb\x01" * DEEP_GROUPS + b"\xfc\x01" * DEEP_GROUPS


def chain(depth: int) -> Failure:
    """A failure with that many failures in it, the outermost included."""
    outermost = failure = application_failure("0")
    for number in range(1, depth):
        failure.cause.message = str(number)
        failure = failure.cause
    return outermost


def read_again(box: Bench) -> None:
    """Read the history as it travels in the answer that nests it deepest."""
    answer = CompleteWorkflowTaskResponse(
        workflow_task=PollWorkflowTaskResponse(history=History(events=box.history))
    ).SerializeToString()
    events = CompleteWorkflowTaskResponse.FromString(answer).workflow_task.history.events
    assert list(events) == box.history


def fail_activity(failure: Failure) -> tuple[Bench, Callable[[], Decision]]:
    box = Bench()
    box.run_activities(schedule_activity(retry_policy=RetryPolicy(maximum_attempts=1)))
    held = box.take_activity()
    return box, lambda: box.fail_activity(held, failure)


def fail_task(failure: Failure) -> tuple[Bench, Callable[[], Decision]]:
    box = Bench()
    box.start()
    held = box.take_workflow_task()
    return box, lambda: box.fail_task(held, failure=failure)


def fail_run(failure: Failure) -> tuple[Bench, Callable[[], Decision]]:
    box = Bench()
    box.start()
    held = box.take_workflow_task()
    return box, lambda: box.complete(held, fail_workflow(failure))


REPORTS = [
    (fail_activity, "activity failure of demo-1/1"),
    (fail_task, "workflow task failure of demo-1"),
    (fail_run, "workflow failure of demo-1"),
]
Report = Callable[[Failure], tuple[Bench, Callable[[], Decision]]]


class TestDepth:
    @pytest.mark.parametrize(("report", "what"), REPORTS)
    @pytest.mark.parametrize("depth", [33, 90])
    def test_a_failure_that_nests_too_deep_is_refused(self, report: Report, what: str, depth: int) -> None:
        box, send = report(chain(depth))
        with expect_refusal(box, Status.INVALID_ARGUMENT, f"{what} nests {depth} deep, the limit is 32: leave out"):
            send()

    @pytest.mark.parametrize(("report", "what"), REPORTS)
    def test_one_that_just_does_not_is_read_again(self, report: Report, what: str) -> None:
        box, send = report(chain(FAILURE_DEPTH))
        assert send().events, what
        read_again(box)

    def test_our_own_failure_around_it_is_read_again(self) -> None:
        box = Bench()
        box.run_activities(schedule_activity(retry_policy=RetryPolicy(maximum_attempts=2)))
        deepest = chain(FAILURE_DEPTH)
        for failure in (deepest, deepest.cause.cause):
            failure.application_failure_info.details.CopyFrom(payloads(b"details"))
        box.fail_activity(box.take_activity(), deepest)
        box.now_ms += 1_000
        held = box.take_activity()
        box.now_ms += 10_000
        box.expire(held)
        (failure,) = (e.activity_task_timed_out.failure for e in box.history if e.HasField("activity_task_timed_out"))
        assert failure_depth(failure) == FAILURE_DEPTH + 1
        read_again(box)


class TestUnknownFields:
    def test_of_a_payload_do_not_get_into_an_event(self) -> None:
        box = Bench()
        message = SignalWorkflowRequest(signal_name="poke", input=Payloads(payloads=[Payload.FromString(UNKNOWN)]))
        sent = message.SerializeToString()
        box.start()
        box.ask(ask.SignalWorkflow(message))
        assert box.history[-1].workflow_execution_signaled.input == Payloads(payloads=[Payload()])
        assert message.SerializeToString() == sent, "the request is left as it is"
        read_again(box)

    def test_of_a_failure_and_of_details_do_not_get_into_a_row(self) -> None:
        box = Bench()
        box.run_activities(schedule_activity())
        unknown = Payloads.FromString(UNKNOWN)
        held = box.take_activity()
        box.heartbeat(held, unknown)
        assert details(box.activity_row()).heartbeat_details.ByteSize() == 0
        box.fail_activity(held, Failure.FromString(UNKNOWN), last_heartbeat_details=unknown)
        assert details(box.activity_row()).ByteSize() < DEEP_GROUPS

    def test_of_the_last_failure_do_not_get_into_the_next_task(self) -> None:
        box = Bench()
        box.start()
        box.fail_task(box.take_workflow_task(), failure=Failure.FromString(UNKNOWN))
        assert details(box.workflow_row()).ByteSize() < DEEP_GROUPS
        read_again(box)


class TestSize:
    def test_an_event_that_no_answer_could_carry_is_refused(self) -> None:
        box = Bench()
        box.start()
        words = ("event 3 (WORKFLOW_EXECUTION_SIGNALED) is", "the limit is 3.5 MiB: send less in one request")
        with expect_refusal(box, Status.INVALID_ARGUMENT, *words):
            box.signal(input=payloads(b"x" * PAYLOAD_SIZE_BYTES), identity="i" * PAYLOAD_SIZE_BYTES)

    def test_a_start_of_that_size_is_refused(self) -> None:
        box = Bench()
        with expect_refusal(box, Status.INVALID_ARGUMENT, "event 1 (WORKFLOW_EXECUTION_STARTED) is"):
            box.start(identity="i" * EVENT_SIZE_BYTES)

    def test_an_event_of_exactly_the_limit_is_taken(self) -> None:
        box = Bench()
        box.start()
        box.signal(identity="i" * PAYLOAD_SIZE_BYTES)
        around_bytes = box.history[-1].ByteSize() - PAYLOAD_SIZE_BYTES
        longest = "i" * (EVENT_SIZE_BYTES - around_bytes)
        box.signal(identity=longest)
        assert box.history[-1].ByteSize() == EVENT_SIZE_BYTES
        with expect_refusal(box, Status.INVALID_ARGUMENT, "3,670,017 bytes, the limit is 3,670,016 bytes (3.5 MiB)"):
            box.signal(identity=longest + "i")

    def test_a_termination_with_all_it_may_have_is_taken(self) -> None:
        box = Bench()
        box.start()
        box.terminate("x" * REASON_SIZE_BYTES, details=payloads(b"x" * PAYLOAD_SIZE_BYTES))
        assert box.names()[-1] == "workflow_execution_terminated"

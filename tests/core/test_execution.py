"""Runs: started, ended by a command or from outside, and ended by force when their history grows too long."""

from typing import Any

import pytest

from tests.core.bench import (
    Bench,
    application_failure,
    complete_workflow,
    events_of,
    fail_workflow,
    payloads,
    schedule_activity,
)
from tests.core.history_checks import check_history
from tests.core.refusals import expect_refusal
from towline.api import common_pb2 as common
from towline.core.decision import Done, Stale
from towline.limits import HISTORY_LIMIT_BYTES, HISTORY_LIMIT_EVENTS, PAYLOAD_SIZE_BYTES
from towline.status import Status

LIMIT = PAYLOAD_SIZE_BYTES


@pytest.fixture
def box() -> Bench:
    started = Bench()
    started.start()
    return started


class TestStart:
    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"workflow_id": ""}, "workflow_id is empty: give it 1 to 1,000 bytes"),
            ({"workflow_id": "x" * 1_001}, "workflow_id 'xxx"),
            ({"workflow_type": ""}, "workflow_type is empty"),
            ({"task_queue": ""}, "task_queue is empty"),
            ({"request_id": "x" * 1_001}, "request_id"),
            ({"workflow_task_timeout_ms": -1}, "workflow_task_timeout_ms of demo-1 is -1"),
            ({"workflow_task_timeout_ms": 120_001}, "is 120,001, the limit is 120,000"),
            ({"input": payloads(b"x" * 3 * 2**20)}, "workflow input of demo-1 is 3 MiB, the limit is 2 MiB"),
            ({"trace_context": {"a": "x" * 70_000}}, "trace context of demo-1 is 68.4 KiB, the limit is 64 KiB"),
        ],
    )
    def test_a_wrong_one_is_refused(self, fields: dict[str, Any], words: str) -> None:
        box = Bench()
        with expect_refusal(box, Status.INVALID_ARGUMENT, words):
            box.start(**fields)

    @pytest.mark.parametrize(
        "fields",
        [
            {"workflow_id": "x" * 1_000},
            {"workflow_id": "é" * 500},
            {"workflow_task_timeout_ms": 120_000},
            {"input": payloads(b"x" * LIMIT)},
        ],
    )
    def test_the_limits_themselves_are_allowed(self, fields: dict[str, Any]) -> None:
        box = Bench()
        box.start(**fields)
        assert box.names() == ["workflow_execution_started", "workflow_task_scheduled"]


class TestCommands:
    def test_complete(self, box: Bench) -> None:
        box.complete(box.take_workflow_task(), complete_workflow(payloads(b"x" * LIMIT)))
        assert box.state.status == common.WORKFLOW_EXECUTION_STATUS_COMPLETED
        assert box.state.close_time_ms == box.now_ms

    def test_fail(self, box: Bench) -> None:
        box.complete(box.take_workflow_task(), fail_workflow(application_failure("no")))
        failed = box.history[-1].workflow_execution_failed
        assert (failed.failure.message, failed.workflow_task_completed_event_id) == ("no", 4)
        assert failed.retry_state == common.RETRY_STATE_RETRY_POLICY_NOT_SET
        assert box.state.status == common.WORKFLOW_EXECUTION_STATUS_FAILED

    def test_a_result_that_is_too_large(self, box: Bench) -> None:
        held = box.take_workflow_task()
        words = "workflow result of demo-1 is 2,097,153 bytes, the limit is 2,097,152 bytes (2 MiB)"
        with expect_refusal(box, Status.INVALID_ARGUMENT, words, "store it elsewhere and return its path"):
            box.complete(held, complete_workflow(payloads(b"x" * (LIMIT + 1))))

    def test_a_failure_that_is_too_large(self, box: Bench) -> None:
        held = box.take_workflow_task()
        with expect_refusal(box, Status.INVALID_ARGUMENT, "workflow failure of demo-1 is 2.1 MiB, the limit is 2 MiB"):
            box.complete(held, fail_workflow(application_failure("x" * 2_200_000)))


class TestTermination:
    def test_ends_the_run_at_once_and_leaves_nothing(self) -> None:
        box = Bench()
        box.run_activities(schedule_activity(schedule_to_close_timeout_ms=60_000))
        box.signal()
        decision = box.terminate("enough", details=payloads(b"d"), identity="op")
        assert events_of(decision) == ["workflow_execution_terminated"]
        terminated = decision.events[0].workflow_execution_terminated
        assert (terminated.reason, terminated.details, terminated.identity) == ("enough", payloads(b"d"), "op")
        assert (box.rows, box.timers) == ({}, {})
        assert box.state.status == common.WORKFLOW_EXECUTION_STATUS_TERMINATED

    def test_leaves_a_virtual_started_event_its_id(self, box: Bench) -> None:
        for _ in range(3):
            box.fail_task(box.take_workflow_task())
            box.now_ms = box.workflow_row().visible_at_ms
        held = box.take_workflow_task()
        told = box.told()
        assert events_of(box.terminate()) == ["workflow_task_started", "workflow_execution_terminated"]
        assert box.history[held.started_event_id - 1] == told
        check_history(box.history)

    def test_of_a_closed_run(self, box: Bench) -> None:
        box.terminate()
        with expect_refusal(box, Status.NOT_FOUND, "demo-1 (run run-1) is closed (TERMINATED)"):
            box.terminate()

    def test_of_no_run(self) -> None:
        box = Bench()
        with expect_refusal(box, Status.NOT_FOUND, "there is no workflow"):
            box.terminate()

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"details": payloads(b"x" * (LIMIT + 1))}, "termination of demo-1 is 2,097,153 bytes"),
            ({"reason": "x" * 70_000}, "termination reason of demo-1 is 68.4 KiB, the limit is 64 KiB"),
        ],
    )
    def test_that_is_too_large(self, box: Bench, fields: dict[str, Any], words: str) -> None:
        with expect_refusal(box, Status.INVALID_ARGUMENT, words):
            box.terminate(**fields)


class TestHistoryLimit:
    def test_as_many_events_as_the_limit_are_fine(self, box: Bench) -> None:
        box.state.last_event_id = HISTORY_LIMIT_EVENTS - 1
        assert events_of(box.signal()) == ["workflow_execution_signaled"]

    def test_one_more_ends_the_run_behind_what_was_asked(self, box: Bench) -> None:
        box.state.last_event_id = HISTORY_LIMIT_EVENTS
        decision = box.signal()
        assert events_of(decision) == ["workflow_execution_signaled", "workflow_execution_terminated"]
        assert decision.outcome == Done()
        terminated = decision.events[1].workflow_execution_terminated
        assert "the limit is 50,000 events or 50 MiB: continue as new before that" in terminated.reason
        assert "history has 50,001 events" in terminated.reason
        assert terminated.identity == "towline-server"
        assert box.rows == {}

    def test_too_many_bytes_end_it_too(self, box: Bench) -> None:
        box.state.history_size_bytes = HISTORY_LIMIT_BYTES
        assert events_of(box.signal())[-1] == "workflow_execution_terminated"

    def test_a_task_of_such_a_run_is_not_delivered(self, box: Bench) -> None:
        box.state.last_event_id = HISTORY_LIMIT_EVENTS
        decision = box.deliver(box.workflow_row())
        assert events_of(decision) == ["workflow_task_started", "workflow_execution_terminated"]
        assert (decision.outcome, box.rows) == (Stale(), {})

    def test_a_run_that_ends_itself_is_left_alone(self, box: Bench) -> None:
        held = box.take_workflow_task()
        box.state.last_event_id = HISTORY_LIMIT_EVENTS
        assert events_of(box.complete(held, complete_workflow()))[-1] == "workflow_execution_completed"

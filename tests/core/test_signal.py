"""Signals: news from outside, each taken once."""

from typing import Any

import pytest

from tests.core.bench import Bench, complete_workflow, events_of, payloads
from tests.core.refusals import expect_refusal
from towline.core.decision import Done
from towline.limits import PAYLOAD_SIZE_BYTES, SIGNALS
from towline.status import Status


@pytest.fixture
def box() -> Bench:
    started = Bench()
    started.start()
    return started


def test_a_signal_is_written_down(box: Bench) -> None:
    box.signal("poke", input=payloads(b"1", b"2"), identity="me", request_id="r1")
    signaled = box.history[-1].workflow_execution_signaled
    assert (signaled.signal_name, signaled.input) == ("poke", payloads(b"1", b"2"))
    assert (signaled.identity, signaled.request_id) == ("me", "r1")


def test_the_same_request_is_taken_once(box: Bench) -> None:
    box.signal(request_id="r1")
    decision = box.signal(request_id="r1")
    assert (decision.outcome, decision.events, decision.effects) == (Done(), [], [])
    assert events_of(box.signal(request_id="r2")) == ["workflow_execution_signaled"]
    assert events_of(box.signal()) == events_of(box.signal()) == ["workflow_execution_signaled"]


def test_a_repeated_request_is_answered_after_the_end_too(box: Bench) -> None:
    box.signal(request_id="r1")
    box.complete(box.take_workflow_task(), complete_workflow())
    assert box.signal(request_id="r1").outcome == Done()
    with expect_refusal(box, Status.NOT_FOUND, "demo-1 (run run-1) is closed (COMPLETED)", "signal an open run"):
        box.signal(request_id="r2")


def test_no_run(box: Bench) -> None:
    empty = Bench()
    with expect_refusal(empty, Status.NOT_FOUND, "there is no workflow"):
        empty.signal()


def test_a_run_takes_so_many_and_no_more(box: Bench) -> None:
    box.state.signal_count = SIGNALS - 1
    box.signal()
    with expect_refusal(box, Status.RESOURCE_EXHAUSTED, "demo-1", "10,000 signals", "the limit is 10,000"):
        box.signal()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"signal_name": ""}, "signal_name is empty"),
        ({"signal_name": "x" * 1_001}, "signal_name 'xxx"),
        ({"request_id": "x" * 1_001}, "request_id 'xxx"),
        (
            {"input": payloads(b"x" * (PAYLOAD_SIZE_BYTES + 1))},
            "signal input of demo-1/poke is 2,097,153 bytes, the limit is 2,097,152 bytes (2 MiB): store it elsewhere",
        ),
    ],
)
def test_a_wrong_one_is_refused(box: Bench, fields: dict[str, Any], words: str) -> None:
    with expect_refusal(box, Status.INVALID_ARGUMENT, words):
        box.signal(**fields)

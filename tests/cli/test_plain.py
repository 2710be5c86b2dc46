"""Messages as JSON."""

import msgspec

from tests.cli import sample_history
from towline.api.common_pb2 import Payload, Payloads
from towline.api.history_pb2 import WorkflowExecutionStartedEventAttributes
from towline.cli.plain import event_to_plain, to_json, to_plain


def test_an_event_with_its_payloads_decoded() -> None:
    plain = event_to_plain(sample_history.events()[0])
    assert plain["event_type"] == "WorkflowExecutionStarted"
    assert plain["event_id"] == 1
    attributes = plain["attributes"]
    assert isinstance(attributes, dict)
    assert attributes["input"] == ["hi", {"cents": 1200}]
    assert attributes["workflow_type"] == "Order"


def test_enums_are_names_and_failures_are_nested() -> None:
    failed = event_to_plain(sample_history.events()[13])
    assert failed["attributes"] == {
        "failure": {"message": "card declined", "application_failure_info": {"type": "CardError"}},
        "scheduled_event_id": 9,
        "started_event_id": 13,
        "retry_state": "RETRY_STATE_NON_RETRYABLE_FAILURE",
    }


def test_what_is_no_json_keeps_its_bytes() -> None:
    payloads = Payloads(
        payloads=[
            Payload(metadata={"encoding": b"binary/null"}),
            Payload(metadata={"encoding": b"binary/plain"}, data=b"\x00\xff"),
            Payload(metadata={"encoding": b"json/plain"}, data=b"{broken"),
        ]
    )
    assert to_plain(payloads) == [
        None,
        {"encoding": "binary/plain", "data": "AP8="},
        {"encoding": "json/plain", "data": "e2Jyb2tlbg=="},
    ]


def test_maps_are_objects() -> None:
    started = WorkflowExecutionStartedEventAttributes(trace_context={"traceparent": "00-1"})
    assert to_plain(started) == {"trace_context": {"traceparent": "00-1"}}


def test_a_history_is_json_whole_and_line_by_line() -> None:
    events = [event_to_plain(event) for event in sample_history.events()]
    assert msgspec.json.decode(to_json(events)) == events
    assert all("\n" not in to_json(event, indent=0) for event in events)

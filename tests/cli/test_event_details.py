"""What is told of each event."""

from tests.cli import sample_history
from tests.cli.sample_history import event, payloads
from towline.api import history_pb2 as h
from towline.cli.event_details import EventDetails, event_name
from towline.cli.text import printable


def test_the_sample_has_every_kind_of_event() -> None:
    """So that a new kind of event cannot be forgotten here: `EventDetails` would raise KeyError in the other tests."""
    kinds = {field.name for field in h.HistoryEvent.DESCRIPTOR.oneofs_by_name["attributes"].fields}
    assert {event.WhichOneof("attributes") for event in sample_history.events()} == kinds


def test_every_kind_can_be_described() -> None:
    details = EventDetails()
    described = {event_name(event): details.lines(event) for event in sample_history.events()}
    assert [name for name, lines in described.items() if not lines] == []


def test_a_kind_of_a_newer_server_is_named_by_its_number() -> None:
    unknown = h.HistoryEvent(event_id=1)
    unknown.ParseFromString(unknown.SerializeToString() + b"\x18\xe7\x07")  # event_type: 999
    assert event_name(unknown) == "Event 999"
    assert EventDetails().lines(unknown) == []


def test_long_arguments_are_cut_and_cannot_drive_the_terminal() -> None:
    hostile = h.WorkflowExecutionStartedEventAttributes(workflow_type="Or\x1b[31mder", input=payloads("x" * 5_000))
    first, *_ = EventDetails(width=40).lines(event(1, "workflow_execution_started", hostile))
    assert first.startswith('Or\\x1b[31mder("xxx')
    assert first.endswith("…)")
    assert len(first) < 70


def test_printable_keeps_ordinary_text() -> None:
    assert printable("Zoë → ✓\n\tend") == "Zoë → ✓\n\tend"
    assert printable("\x9b31m\u202e\r") == "\\u009b31m\\u202e\\r"

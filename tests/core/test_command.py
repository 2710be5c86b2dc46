"""Commands: a registry, in order, nothing after the end."""

import pytest

from tests.core.bench import Bench, complete_workflow, fail_workflow, schedule_activity
from tests.core.refusals import expect_refusal
from towline.api.command_pb2 import Command
from towline.core.command import COMMANDS
from towline.status import Status


@pytest.fixture
def box() -> Bench:
    started = Bench()
    started.start()
    return started


def from_a_newer_contract(field_number: int) -> Command:
    """A command whose kind this contract does not have: a message field of that number, empty."""
    key = (field_number << 3) | 2
    return Command.FromString(bytes([key & 0x7F | 0x80, key >> 7, 0]))


def test_every_kind_of_the_contract_is_registered() -> None:
    kinds = {field.name for field in Command.DESCRIPTOR.oneofs_by_name["attributes"].fields}
    assert kinds == set(COMMANDS)


@pytest.mark.parametrize("after", [schedule_activity(), complete_workflow(), fail_workflow()])
@pytest.mark.parametrize("closing", [complete_workflow(), fail_workflow()])
def test_nothing_comes_after_the_end(box: Bench, closing: Command, after: Command) -> None:
    held = box.take_workflow_task()
    name = str(closing.WhichOneof("attributes"))
    with expect_refusal(box, Status.INVALID_ARGUMENT, f"comes after command 2 ({name})", "command 3"):
        box.complete(held, schedule_activity("first"), closing, after)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (Command(), "the kind of command 2 (not set) is unknown to this server"),
        (from_a_newer_contract(17), "the kind of command 2 (field 17 of Command) is unknown to this server"),
    ],
)
def test_an_unknown_kind(box: Bench, command: Command, words: str) -> None:
    held = box.take_workflow_task()
    with expect_refusal(box, Status.UNIMPLEMENTED, words):
        box.complete(held, schedule_activity(), command)


def test_events_come_in_the_order_of_the_commands(box: Bench) -> None:
    box.complete(box.take_workflow_task(), schedule_activity("b"), schedule_activity("a"), complete_workflow())
    assert [event.activity_task_scheduled.activity_id for event in box.history[4:6]] == ["b", "a"]
    assert box.names()[-1] == "workflow_execution_completed"

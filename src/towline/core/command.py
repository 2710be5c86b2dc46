"""Commands: what a worker asks for, one entry per kind. A new kind is a handler in its noun's file and a line here."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.unknown_fields import UnknownFieldSet

from towline.api.command_pb2 import Command
from towline.core import activity_schedule, execution
from towline.core.draft import Draft
from towline.core.refusal import Refused, invalid
from towline.core.task_fails import TaskFails
from towline.status import Status

__all__ = ["COMMANDS", "CommandKind", "ReadCommand", "TaskFails", "carry_out", "read"]


@dataclass(frozen=True, slots=True)
class CommandKind:
    """How one kind is carried out.

    `append(draft, attributes, completed_event_id)` checks the command's attributes and appends its events, which name
    the WorkflowTaskCompleted that they follow. It raises Refused (the completion is refused) or TaskFails (the task is
    failed); in both cases nothing of the completion stays.
    """

    append: Callable[[Draft, Any, int], None]
    closes: bool = False  # it ends the run


COMMANDS: Final[Mapping[str, CommandKind]] = {
    "schedule_activity": CommandKind(activity_schedule.schedule),
    "complete_workflow": CommandKind(execution.complete, closes=True),
    "fail_workflow": CommandKind(execution.fail, closes=True),
}


@dataclass(frozen=True, slots=True)
class ReadCommand:
    """A command of a known kind. `attributes` is the message that the kind's handler takes."""

    kind: CommandKind
    attributes: Any


def read(commands: Iterable[Command]) -> list[ReadCommand]:
    """Find each command's kind. Raises Refused: UNIMPLEMENTED, or INVALID_ARGUMENT for one after the run's end."""
    found: list[ReadCommand] = []
    ending = ""
    for position, command in enumerate(commands, start=1):
        name = command.WhichOneof("attributes")
        kind = COMMANDS.get(name) if name else None
        if name is None or kind is None:
            raise Refused(Status.UNIMPLEMENTED, _unknown(command, name, position))
        if ending:
            raise invalid(f"command {position} ({name}) comes after {ending}, which ends the run: leave it out")
        if kind.closes:
            ending = f"command {position} ({name})"
        found.append(ReadCommand(kind, getattr(command, name)))
    return found


def carry_out(draft: Draft, commands: Sequence[ReadCommand], completed_event_id: int) -> None:
    """Append the events of all commands, in order."""
    for command in commands:
        command.kind.append(draft, command.attributes, completed_event_id)


def _unknown(command: Command, name: str | None, position: int) -> str:
    if name is None:
        fields = UnknownFieldSet(command)
        numbers = ", ".join(str(fields[index].field_number) for index in range(len(fields)))
        name = f"field {numbers} of Command" if numbers else "not set"
    return f"the kind of command {position} ({name}) is unknown to this server: update it, or do without that command"

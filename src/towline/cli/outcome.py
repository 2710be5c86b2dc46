"""How a run ended, on the command line: its result on stdout, or its failure as the command's error."""

import sys

from towline.cli.errors import CliError
from towline.cli.failures import story
from towline.cli.plain import to_json
from towline.cli.text import one_line
from towline.client import WorkflowFailureError, WorkflowHandle
from towline.exceptions import FailureError, TerminatedError


async def print_result(handle: WorkflowHandle[object]) -> None:
    """Wait for the run to close and print its result as JSON. Raises CliError if it did not complete."""
    try:
        value = await handle.result()
    except WorkflowFailureError as error:
        raise CliError(f"{handle.id} {_fault(error)}: `towline show {handle.id}` tells its history") from error
    print(to_json(value, indent=2 if sys.stdout.isatty() else 0))


def _fault(error: WorkflowFailureError) -> str:
    cause = error.cause
    if isinstance(cause, TerminatedError):
        return f"was terminated: {one_line(cause.message)}"
    if not isinstance(cause, FailureError) or cause.failure is None:
        return f"failed: {one_line(str(cause))}"
    failure = cause.failure
    return f"failed: {', '.join(story(failure))}"

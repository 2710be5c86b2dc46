"""What a command says when it cannot go on: one line that names the fault, the subject and the next step."""

from rich.console import Console
from rich.text import Text

from towline.cli.text import printable


class CliError(Exception):
    """Ends the command with exit status 1 and this message on stderr."""


class UsageError(CliError):
    """What was typed makes no sense: exit status 2."""


def report(message: str) -> None:
    """Print one error to stderr, in the way that every command does it."""
    line = Text.assemble(("error: ", "bold red"), printable(message))
    Console(stderr=True, highlight=False).print(line, soft_wrap=True)

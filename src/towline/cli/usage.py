"""A command line that cannot be understood, in plain words."""

from cyclopts import CycloptsError
from cyclopts.exceptions import MissingArgumentError, UnknownCommandError, UnknownOptionError, UnusedCliTokensError

from towline.cli.text import one_line


def explain(error: CycloptsError) -> str:
    """One line: what is wrong, and which help tells what would be right."""
    command = " ".join(("towline", *(error.command_chain or ())))
    return f"{_fault(error, command).rstrip(' .,')}: see `{command} --help`"


def _fault(error: CycloptsError, command: str) -> str:
    match error:
        case UnknownOptionError():
            return f"{command} has no option {_option(error.token.keyword or error.token.value)}"
        case MissingArgumentError() if error.argument is not None:
            name = error.argument.name
            return f"{name} needs a value" if name.startswith("-") else f"{command} needs {name}"
        case UnusedCliTokensError():
            tokens = list(error.unused_tokens or ())
            return f"{command} does not know what to do with {' '.join(map(repr, tokens))}"
        case UnknownCommandError() if (error.unused_tokens or [""])[0].startswith("-"):
            return f"{command} has no option {_option((error.unused_tokens or [''])[0])} before its command"
        case _:
            return one_line(str(error))


def _option(token: str) -> str:
    return one_line(token.partition("=")[0])

"""The `towline` command."""

import os
from collections.abc import Sequence
from importlib.metadata import version
from typing import Final

from cyclopts import App, CycloptsError, Group, Parameter

from towline.cli.errors import CliError, UsageError, report
from towline.cli.usage import explain

# A command's module is imported when it is called: a server process carries no SDK, and `--help` comes at once.
_COMMANDS: Final = {
    "Run": {
        "dev": ("towline.cli.dev:dev", "Server and worker for an app.py, reloaded when its code changes."),
        "server": ("towline.cli.server:server", "Run the server."),
        "worker": ("towline.cli.worker:worker", "Run a worker."),
    },
    "Workflows": {
        "start": ("towline.cli.start:start", "Start a run of a workflow."),
        "result": ("towline.cli.result:result", "Wait for a run to end and print its result."),
        "show": ("towline.cli.show:show", "Show the history of a run."),
        "describe": ("towline.cli.describe:describe", "Show where a run stands and what it waits for."),
        "list": ("towline.cli.list:list_runs", "List runs, the newest first."),
        "signal": ("towline.cli.signal:signal", "Send a signal to an open run."),
        "terminate": ("towline.cli.terminate:terminate", "End an open run at once."),
    },
}


def main(tokens: Sequence[str] | None = None) -> int:
    """Run one command, of the process's own arguments unless `tokens` are given. Gives back the exit status.

    0: it went well, 1: it did not, 2: the command line makes no sense, 130: Ctrl-C.
    """
    # gRPC writes lines of its own to stderr, beside the errors that it raises; it reads this when it is imported.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    try:
        status: int = build()(tokens, exit_on_error=False, print_error=False)
    except CycloptsError as error:
        report(explain(error))
        return 2
    except CliError as error:
        report(str(error))
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 0  # the reader of our output, `head` for example, has seen enough
    return status


def build() -> App:
    """The command with all its subcommands."""
    app = App(
        name="towline",
        help="Durable execution for Python: workflows that go on from where they were.",
        version=version("towline"),
        default_parameter=Parameter(negative="", show_default=_shown_default),
        result_action="return_int_as_exit_code_else_zero",
        suppress_keyboard_interrupt=False,
        help_format="plaintext",
    )
    for order, (title, commands) in enumerate(_COMMANDS.items()):
        group = Group(title, sort_key=order)
        for name, (function, help) in commands.items():
            app.command(function, name=name, help=help, group=group)
    return app


def _shown_default(default: object) -> str | None:
    return None if default in (False, "", None) else str(default)

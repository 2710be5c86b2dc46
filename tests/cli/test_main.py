"""The command as a whole."""

import pytest

from tests.cli.conftest import Towline

COMMANDS = ["describe", "dev", "list", "result", "server", "show", "signal", "start", "terminate", "worker"]


async def test_help_names_every_command(towline: Towline) -> None:
    ran = await towline("--help")
    assert ran.status == 0
    listed = [line.split()[1] for line in ran.out.splitlines() if line.startswith("│ ")]
    assert sorted(name for name in listed if not name.startswith("-")) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
async def test_every_option_is_explained(towline: Towline, command: str) -> None:
    ran = await towline(command, "--help")
    assert ran.status == 0
    assert "[default: False]" not in ran.out
    rows = [line.strip("│ ").removeprefix("* ") for line in ran.out.splitlines() if line.startswith("│")]
    unexplained = [row for row in rows if row.startswith("--") and len(row.split()) < 4]
    assert unexplained == []


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["shw"], 'Unknown command "shw". Did you mean "show"?'),
        (["show"], "towline show needs WORKFLOW_ID: see `towline show --help`\n"),
        (["list", "--limit"], "--limit needs a value: see `towline list --help`\n"),
        (["show", "x", "--bogus"], "towline show has no option --bogus: see `towline show --help`\n"),
        (["show", "x", "--bogus=1", "y"], "towline show has no option --bogus: see `towline show --help`\n"),
        (["--bogus", "show"], "towline has no option --bogus before its command: see `towline --help`\n"),
        (["terminate", "a", "b", "c"], "towline terminate does not know what to do with 'b' 'c': see `towline"),
        (["list", "--limit", "x"], 'Invalid value for --limit: unable to convert "x" into int: see `towline'),
    ],
)
async def test_a_command_line_that_is_wrong(towline: Towline, tokens: list[str], message: str) -> None:
    ran = await towline(*tokens)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith(f"error: {message}")
    assert ran.err.count("\n") == 1

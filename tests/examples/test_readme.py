"""What the README shows is what is there."""

import re
from pathlib import Path
from typing import Final

import pytest

from towline.cli.main import build

ROOT: Final = Path(__file__).parents[2]
README: Final = (ROOT / "README.md").read_text()
SHELL: Final = "\n".join(re.findall(r"```sh\n(.*?)```", README, re.DOTALL))


@pytest.mark.parametrize("app", ["hello", "order"])
def test_an_app_is_shown_as_it_is(app: str) -> None:
    _, _, code = (ROOT / f"examples/{app}/app.py").read_text().partition('"""\n\n')
    assert f"```python\n{code}```" in README


def test_every_command_is_told() -> None:
    commands = {name for name in build() if not name.startswith("-")}
    table = README.partition("## The command line")[2].partition("\n## ")[0]
    assert commands - set(re.findall(r"\w+", table)) == set()


@pytest.mark.parametrize("command", re.findall(r"^towline (.*?)(?: +#.*)?$", SHELL, re.MULTILINE))
def test_the_commands_can_be_parsed(command: str) -> None:
    function, bound, _ = build().parse_args(command, exit_on_error=False, print_error=False)
    assert callable(function)
    assert bound.arguments or command == "server"

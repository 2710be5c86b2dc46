"""What the documents say of the repository is so."""

import re
import tomllib
from typing import Final

import pytest

from tests.rules.source import ROOT

DOCUMENTS: Final = ("ARCHITECTURE.md", "CONTRIBUTING.md", "README.md")
FOLDERS: Final = "src|tests|proto|examples|bench|script"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paths_exist(document: str) -> None:
    text = (ROOT / document).read_text()
    named = set(re.findall(rf"`((?:{FOLDERS})/[\w./-]+)", text)) | set(re.findall(r"\]\((?!http)([^)#]+)", text))
    gone = sorted(path for path in named if not (ROOT / path.rstrip(".")).exists())
    assert not gone, f"{document} names what is not there"


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    names = sorted(re.split(r"[^\w-]", requirement)[0] for requirement in declared)
    rows = re.findall(
        r"^\| ([a-z][\w-]+) \| ", (ROOT / "ARCHITECTURE.md").read_text().partition("## Dependencies")[2], re.M
    )
    assert sorted(row for row in rows if row != "package") == names


def test_every_dependency_is_pinned() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    pinned = {line.partition("==")[0].lower().replace("_", "-") for line in lines}
    declared = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    assert [name for name in declared if re.split(r"[^\w-]", name)[0].lower() not in pinned] == []

"""Tests on a copy: every case is run and noted, and what says nothing about the source is no outcome."""

import shutil
from pathlib import Path

import pytest

from mutants import suite
from mutants.source_copy import ROOT, SourceCopy

CASES = """
import threading
import pytest

def test_passes(): assert True

@pytest.mark.parametrize("n", [1, 2])
def test_fails_once(n): assert n == 1

@pytest.fixture
def stuck():
    yield
    threading.Event().wait()

def test_hangs(stuck): threading.Event().wait()

def test_after_the_hang(): raise ValueError("boom")
"""


@pytest.fixture
def copy(tmp_path: Path) -> SourceCopy:
    """A source of nothing, and room for tests."""
    shutil.copytree(ROOT / "mutants", tmp_path / "mutants", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "src/towline").mkdir(parents=True)
    (tmp_path / "src/towline/__init__.py").touch()
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    return SourceCopy(tmp_path)


async def test_every_case_is_run_also_after_one_that_hangs(copy: SourceCopy) -> None:
    (copy.folder / "test_it.py").write_text(CASES)
    results = await suite.run(copy, ["test_it.py"], case_timeout_s=1)
    assert results.passed == {"test_it.py::test_passes", "test_it.py::test_fails_once[1]"}
    assert list(results.failed) == [
        "test_it.py::test_fails_once[2]",
        "test_it.py::test_hangs",
        "test_it.py::test_after_the_hang",
    ]
    assert results.failed["test_it.py::test_after_the_hang"] == "ValueError: boom"
    assert results.left() == []


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import towline.nothing\ndef test_it(): assert False", "No module named 'towline.nothing'"),
        ("def test_other(): assert False", "not found"),
        ("import pytest\n@pytest.fixture\ndef x(): 1 / 0\ndef test_it(x): assert False", "failed before it began"),
    ],
    ids=["import error", "no such test", "fixture error"],
)
async def test_tests_that_do_not_run_are_no_outcome(code: str, reason: str, copy: SourceCopy) -> None:
    (copy.folder / "test_it.py").write_text(code)
    with pytest.raises(suite.NotRun, match=reason):
        await suite.run(copy, ["test_it.py::test_it"])


async def test_another_source_is_no_outcome(copy: SourceCopy) -> None:
    (copy.folder / "test_it.py").write_text("def test_it(): assert False")
    shutil.rmtree(copy.folder / "src")
    with pytest.raises(suite.NotRun, match="not on the copy"):
        await suite.run(copy, ["test_it.py::test_it"])

"""Finding the worker in user code."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from towline.cli.errors import CliError
from towline.cli.loading import load_worker
from towline.workflow import definition_of

APP = """
from datetime import timedelta
from towline import activity, workflow
from towline.worker import WorkerConfig

@activity.defn(start_to_close_timeout=timedelta(seconds=1))
async def upper(text: str) -> str:
    return text.upper()

@workflow.defn
async def echo(text: str) -> str:
    return await upper(text)

@workflow.defn
class Order:
    @workflow.run
    async def run(self) -> None: ...

alias = echo
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory. What is imported from it is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    path, modules = list(sys.path), set(sys.modules)
    yield tmp_path
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def names(folder: Path, place: str) -> tuple[str, list[str], list[str]]:
    config = load_worker(place)
    activities = [getattr(activity, "name", "") for activity in config.activities]
    return config.task_queue, [definition_of(workflow).name for workflow in config.workflows], activities


def test_what_is_decorated_is_found(folder: Path) -> None:
    (folder / "app_a.py").write_text(APP)
    assert names(folder, "app_a.py") == ("default", ["echo", "Order"], ["upper"])
    assert names(folder, "app_a") == ("default", ["echo", "Order"], ["upper"])


def test_a_worker_that_is_written_down_counts(folder: Path) -> None:
    (folder / "app_b.py").write_text(
        f"{APP}\nworker = WorkerConfig(task_queue='q', workflows=[echo])\n"
        "other = WorkerConfig(task_queue='r', activities=[upper])\n"
    )
    assert names(folder, "app_b.py") == ("q", ["echo"], [])
    assert names(folder, "app_b:other") == ("r", [], ["upper"])
    assert names(folder, str(folder / "app_b.py") + ":other") == ("r", [], ["upper"])


def test_a_file_in_a_package_is_imported_as_part_of_it(folder: Path) -> None:
    package = folder / "shop" / "inner"
    package.mkdir(parents=True)
    (folder / "shop" / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "flows.py").write_text(APP)
    (package / "app.py").write_text("from .flows import echo, upper\n")
    assert names(folder, "shop/inner/app.py") == ("default", ["echo"], ["upper"])
    assert "shop.inner.app" in sys.modules


@pytest.mark.parametrize(
    ("content", "place", "message"),
    [
        (None, "app_c.py", r"there is no file .*app_c\.py: name the \.py file"),
        (None, "no_such_module", r"there is no module no_such_module in .*: give the path of its \.py file"),
        (None, "no_such.module:worker", r"there is no module no_such\.module in"),
        ("", "app_d.py", r"app_d\.py has no worker: write `worker = WorkerConfig\("),
        ("", "app_e.py:mine", r"app_e\.py has no WorkerConfig named mine: write `mine = WorkerConfig"),
        ("worker = 3", "app_f.py", r"`worker` in app_f\.py is a int: it must be a towline\.worker\.WorkerConfig"),
        ("import no_such_thing", "app_g.py", r"app_g\.py cannot be imported: ModuleNotFoundError: .*app_g\.py, line 1"),
        ("x = 1\n1 / 0", "app_h.py", r"app_h\.py cannot be imported: ZeroDivisionError: .*app_h\.py, line 2"),
        ("def (", "app_i.py", r"app_i\.py cannot be imported: SyntaxError: invalid syntax .*app_i\.py, line 1"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(folder: Path, content: str | None, place: str, message: str) -> None:
    if content is not None:
        (folder / place.partition(":")[0]).write_text(content)
    with pytest.raises(CliError, match=message) as caught:
        load_worker(place)
    assert "\n" not in str(caught.value)

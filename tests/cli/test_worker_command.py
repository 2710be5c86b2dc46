"""`towline worker` and `towline dev` as processes."""

import json
import signal
from pathlib import Path

import pytest

from tests.cli.conftest import Towline
from tests.cli.processes import towline_process

APP = """
import asyncio
from datetime import timedelta
from pathlib import Path
from towline import activity, workflow

@activity.defn(start_to_close_timeout=timedelta(seconds=60))
async def upper(text: str) -> str:
    print("upper runs", flush=True)
    while not Path("go").exists():
        await asyncio.sleep(0.01)
    return text.upper()

@workflow.defn(name="Echo")
async def echo(text: str) -> str:
    return await upper(text)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory with an app whose activity ends once there is a file `go`."""
    (tmp_path / "app.py").write_text(APP)
    return tmp_path


START = ("start", "Echo", "--input", '"hi"', "--id", "demo-1")


async def test_a_worker_runs_until_it_is_told_to_stop_and_drains(folder: Path, address: str, towline: Towline) -> None:
    async with towline_process("worker", "app.py", "--target", address, folder=folder) as worker:
        found = await worker.line_with("worker on default")
        assert found == f"worker on default at {address}  workflows: Echo  activities: upper"
        assert (await towline(*START)).status == 0
        await worker.line_with("upper runs")
        worker.send(signal.SIGTERM)
        await worker.line_with("worker stops")
        (folder / "go").touch()
        assert await worker.end() == 0
    # The next worker has only the end of the workflow to do.
    async with towline_process("worker", "app.py", "--target", address, folder=folder) as worker:
        assert (await towline("result", "demo-1")).out == '"HI"\n'
        worker.send(signal.SIGINT)
        assert await worker.end() == 0
    assert "upper runs" not in worker.lines


async def test_a_second_signal_does_not_wait_for_activities(folder: Path, address: str, towline: Towline) -> None:
    async with towline_process("worker", "app.py", "--target", address, folder=folder) as worker:
        assert (await towline(*START)).status == 0
        await worker.line_with("upper runs")
        worker.send(signal.SIGTERM)
        await worker.line_with("worker stops")
        worker.send(signal.SIGTERM)
        assert await worker.end() == 0


LOGGING_APP = """
import logging
from datetime import timedelta
from towline import activity, workflow

log = logging.getLogger("orders")

@activity.defn(start_to_close_timeout=timedelta(seconds=60))
async def upper(text: str) -> str:
    log.info("%s is next", text, extra={"order": 7})
    log.debug("only asked for")
    return text.upper()

@workflow.defn(name="Echo")
async def echo(text: str) -> str:
    workflow.logger.info("echo begins", extra={"step": 1})
    return await upper(text)
"""


@pytest.mark.parametrize(
    ("level", "events"),
    [
        ("debug", ["echo begins", "hi is next", "only asked for"]),
        ("info", ["echo begins", "hi is next"]),
        ("warning", []),
    ],
)
async def test_what_user_code_logs_is_in_the_worker_s_log(
    folder: Path, address: str, towline: Towline, level: str, events: list[str]
) -> None:
    (folder / "app.py").write_text(LOGGING_APP)
    options = ("--target", address, "--log-level", level)
    async with towline_process("worker", "app.py", *options, folder=folder) as worker:
        assert (await towline(*START, "--wait")).out == '"HI"\n'
        worker.send(signal.SIGTERM)
        assert await worker.end() == 0
    records = [json.loads(line) for line in worker.lines if line.startswith("{")]
    own = {record["event"]: record for record in records if record.get("logger") in ("orders", "towline.workflow")}
    assert list(own) == events
    for record in own.values():
        assert record["timestamp"].endswith("Z")
    if events:
        begins, is_next = own["echo begins"], own["hi is next"]
        assert (begins["workflow_id"], begins["workflow_type"], begins["step"]) == ("demo-1", "Echo", 1)
        assert begins["run_id"]
        assert (is_next["level"], is_next["order"]) == ("info", 7)


@pytest.mark.parametrize(
    ("place", "options", "message"),
    [
        ("app.py", ["--target", "127.0.0.1:1"], "error: no Towline server answers at 127.0.0.1:1"),
        ("app.py", ["--namespace", "no"], "namespace 'no' is not known here"),
        ("nothing.py", [], "error: there is no file "),
        ("app:nothing", [], "error: app has no WorkerConfig named nothing"),
    ],
)
async def test_what_a_worker_cannot_work_with_is_told_in_one_line(
    folder: Path, address: str, place: str, options: list[str], message: str
) -> None:
    everything = [place, "--log-level", "error", *options]
    if "--target" not in options:
        everything += ["--target", address]
    async with towline_process("worker", *everything, folder=folder) as worker:
        assert await worker.end() == 1
    errors = [line for line in worker.lines if line.startswith("error: ")]
    assert len(errors) == 1, worker.lines
    assert message in errors[0]
    assert "Traceback" not in "".join(worker.lines)


async def test_dev_reloads_and_stops(folder: Path, towline: Towline) -> None:
    (folder / "go").touch()
    async with towline_process("dev", "app.py", "--address", "127.0.0.1:0", folder=folder) as dev:
        address = (await dev.line_with("worker on default at")).split()[4]
        here = ("--wait", "--target", address)
        assert (await towline("start", "Echo", "--input", '"hi"', *here)).out == '"HI"\n'

        (folder / "app.py").write_text(APP.replace("text.upper()", "text.title()"))
        await dev.line_with("app.py changed")
        await dev.line_with("worker on default at")
        assert (await towline("start", "Echo", "--input", '"hi"', *here)).out == '"Hi"\n'

        (folder / "app.py").write_text("1 / 0")
        await dev.line_with("error: app.py cannot be imported: ZeroDivisionError")
        await dev.line_with("the worker ended; it starts again when the code changes")
        (folder / "app.py").write_text(APP)
        await dev.line_with("worker on default at")
        assert (await towline("start", "Echo", "--input", '"hi"', *here)).out == '"HI"\n'

        dev.send(signal.SIGINT)
        assert await dev.end() == 0
    assert (await towline("list", "--target", address)).status == 1, "the server is still there"


async def test_dev_that_is_killed_leaves_nothing_behind(folder: Path, towline: Towline) -> None:
    (folder / "go").touch()
    async with towline_process("dev", "app.py", "--address", "127.0.0.1:0", folder=folder) as dev:
        address = (await dev.line_with("worker on default at")).split()[4]
        here = ("--wait", "--target", address)
        assert (await towline("start", "Echo", "--input", '"hi"', *here)).out == '"HI"\n'
        dev.send(signal.SIGKILL)
        # Its children write where it does, so there is an end to that only when they have ended.
        assert await dev.end() == -signal.SIGKILL
    assert "worker stops: running activities may finish; once more to cancel them" in dev.lines
    assert (await towline("list", "--target", address)).status == 1, "the server is still there"


async def test_dev_without_its_server_ends(folder: Path, address: str) -> None:
    async with towline_process("dev", "app.py", "--address", address, folder=folder) as dev:
        await dev.line_with(f"error: cannot listen on {address}")
        await dev.line_with("error: the server did not start: see its message above")
        assert await dev.end() == 1

"""The commands that ask a server, against a real one."""

from pathlib import Path

import msgspec
import pytest

from tests.cli.conftest import Towline
from tests.cli.processes import towline_process


async def started(towline: Towline, *options: str, id: str = "demo-1") -> None:
    ran = await towline("start", "Echo", "--task-queue", "hello", "--id", id, *options)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith(f"started {id}  Echo on hello  run ")


@pytest.mark.usefixtures("address")
class TestCommands:
    async def test_start_show_and_terminate(self, towline: Towline) -> None:
        await started(towline, "--input", '"hi"', "--input", "[1, 2]")
        assert (await towline("signal", "demo-1", "hurry", "--input", '{"a": 1}')).out == "signaled demo-1  hurry\n"
        assert (await towline("terminate", "demo-1", "--reason", "enough of it")).out == "terminated demo-1\n"
        shown = await towline("show", "demo-1")
        assert shown.status == 0
        assert shown.out.startswith("demo-1  ·  Echo  ·  terminated after ")
        for words in ('Echo("hi", [1,2])', 'hurry({"a":1}) by ', "enough of it by "):
            assert words in shown.out
        names = [line.split()[2] for line in shown.out.splitlines()[4:] if line[:4].strip().isdigit()]
        assert names == [
            "WorkflowExecutionStarted",
            "WorkflowTaskScheduled",
            "WorkflowExecutionSignaled",
            "WorkflowExecutionTerminated",
        ]

    async def test_show_as_json(self, towline: Towline) -> None:
        await started(towline, "--input", '"hi"')
        await towline("terminate", "demo-1")
        whole = msgspec.json.decode((await towline("show", "demo-1", "--json")).out)
        assert whole["workflow_id"] == "demo-1"
        assert [event["event_id"] for event in whole["events"]] == [1, 2, 3]
        assert whole["events"][0]["attributes"]["input"] == ["hi"]
        followed = await towline("show", "demo-1", "--json", "--follow", "--run-id", whole["run_id"])
        assert [msgspec.json.decode(line) for line in followed.out.splitlines()] == whole["events"]

    async def test_show_follows_a_run_to_its_end(self, address: str, towline: Towline, tmp_path: Path) -> None:
        await started(towline)
        async with towline_process("show", "demo-1", "--follow", "--target", address, folder=tmp_path) as show:
            await show.line_with("WorkflowTaskScheduled")
            await towline("signal", "demo-1", "hurry")
            await show.line_with("WorkflowExecutionSignaled")
            await towline("terminate", "demo-1")
            await show.line_with("WorkflowExecutionTerminated")
            assert await show.end() == 0

    async def test_describe(self, towline: Towline) -> None:
        await started(towline)
        description = await towline("describe", "demo-1")
        assert description.out.startswith("demo-1  ·  Echo  ·  running\n")
        assert "workflow task  waits for a worker\n" in description.out
        await towline("terminate", "demo-1")
        assert "nothing is pending\n" in (await towline("describe", "demo-1")).out
        described = msgspec.json.decode((await towline("describe", "demo-1", "--json")).out)
        assert described["info"]["status"] == "WORKFLOW_EXECUTION_STATUS_TERMINATED"

    async def test_list(self, towline: Towline) -> None:
        assert (await towline("list")).out == "no runs in namespace default\n"
        for id in ("a", "b", "c"):
            await started(towline, id=id)
        await towline("terminate", "b")
        rows = (await towline("list")).out.splitlines()
        assert rows[0].split() == ["status", "workflow", "id", "type", "started", "for", "events"]
        assert sorted(row.split()[1] for row in rows[1:]) == ["a", "b", "c"]
        assert [row.split()[:2] for row in (await towline("list", "--status", "Terminated")).out.splitlines()[1:]] == [
            ["terminated", "b"]
        ]
        assert len((await towline("list", "--limit", "2")).out.splitlines()) == 3
        listed = msgspec.json.decode((await towline("list", "--id", "c", "--json")).out)
        assert [info["execution"]["workflow_id"] for info in listed] == ["c"]

    async def test_an_id_that_is_made_up(self, towline: Towline) -> None:
        first, second = await towline("start", "Echo"), await towline("start", "Echo")
        assert first.out.split()[1] != second.out.split()[1]
        assert "  Echo on default  " in first.out

    @pytest.mark.parametrize(
        ("tokens", "message"),
        [
            (["show", "nope"], "workflow 'nope' is not in namespace 'default'"),
            (["describe", "nope"], "workflow 'nope' is not in namespace 'default'"),
            (["result", "nope"], "workflow 'nope' is not in namespace 'default'"),
            (["signal", "nope", "s"], "workflow 'nope' is not in namespace 'default'"),
            (["terminate", "nope"], "workflow 'nope' is not in namespace 'default'"),
            (["list", "--namespace", "no"], "namespace 'no' is not known here"),
            (["start", "Echo", "--id", "x" * 1001], "1,001 bytes"),
            (["start", "Echo", "--input", f'"{"x" * 2**21}"'], "2 MiB"),
        ],
    )
    async def test_what_cannot_be_done_is_told_in_one_line(
        self, towline: Towline, tokens: list[str], message: str
    ) -> None:
        ran = await towline(*tokens)
        assert (ran.status, ran.out) == (1, "")
        assert ran.err.startswith("error: ")
        assert message in ran.err
        assert ran.err.count("\n") == 1

    @pytest.mark.parametrize(
        ("tokens", "message"),
        [
            (["list", "--status", "fine"], "--status fine is no status: use one of running, completed, failed"),
            (["start", "Echo", "--input", "hi"], "--input 1 is not JSON: hi"),
        ],
    )
    async def test_what_makes_no_sense_is_an_error_of_its_own(
        self, towline: Towline, tokens: list[str], message: str
    ) -> None:
        ran = await towline(*tokens)
        assert (ran.status, ran.out) == (2, "")
        assert ran.err.startswith(f"error: {message}")

    @pytest.mark.parametrize("columns", ["140", "60"])
    async def test_what_is_piped_has_no_trailing_blanks(
        self, towline: Towline, monkeypatch: pytest.MonkeyPatch, columns: str
    ) -> None:
        await started(towline, "--input", f'"{"word " * 40}"')
        await towline("signal", "demo-1", "hurry", "--input", '"now"')
        monkeypatch.setenv("COLUMNS", columns)
        for command in (["show", "demo-1"], ["describe", "demo-1"], ["list"]):
            lines = (await towline(*command)).out.splitlines()
            assert lines
            assert [line for line in lines if line != line.rstrip()] == []

    async def test_a_run_is_started_once(self, towline: Towline) -> None:
        await started(towline)
        again = await towline("start", "Echo", "--task-queue", "hello", "--id", "demo-1")
        assert again.status == 1
        assert again.err.startswith("error: demo-1 is already running: `towline show demo-1` tells")

    async def test_the_result_of_a_terminated_run(self, towline: Towline) -> None:
        await started(towline)
        await towline("terminate", "demo-1", "--reason", "enough of it")
        ran = await towline("result", "demo-1")
        assert ran.status == 1
        assert ran.err == "error: demo-1 was terminated: enough of it: `towline show demo-1` tells its history\n"


async def test_no_server(towline: Towline) -> None:
    ran = await towline("list", "--target", "127.0.0.1:1")
    assert ran.status == 1
    assert ran.err.startswith("error: no Towline server answers at 127.0.0.1:1: start one with `towline server`")

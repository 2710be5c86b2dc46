"""The crash test in small: it runs, it kills, and what it prints is so."""

from pathlib import Path

import pytest

from crash.__main__ import report
from crash.attempts import Attempt
from crash.killer import Kills
from crash.options import Options
from crash.run import Outcome, run
from crash.verdict import Verdict
from towline.clock import SystemClock

OPTIONS = Options(workflows=12, kills=4, workers=2, seed=1, patience_s=40)


async def test_workflows_survive_kills(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = await run(OPTIONS, tmp_path, clock=SystemClock())
    assert report(OPTIONS, outcome) == 0, capsys.readouterr().out
    assert capsys.readouterr().out.splitlines()[-1] == "12 completed, 0 lost, 0 duplicated, 4 kills"
    assert outcome.kills.of_server == 3
    assert outcome.kills.at_once == 2
    failed_once = {attempt.key for attempt in outcome.attempts if attempt.number > 1 and attempt.key.endswith("/1")}
    assert len(failed_once) == 12, "the first activity of each fails once"
    assert any(attempt.resumed for attempt in outcome.attempts)


def outcome_of(verdict: Verdict, *, kills: int) -> Outcome:
    return Outcome(
        verdict=verdict,
        kills=Kills(total=kills),
        attempts=[Attempt(key="a/1", number=1, token="t", resumed=False)],
        worker_gave_up=0,
        client_gave_up=0,
        elapsed_ms=1,
    )


def test_what_is_wrong_is_printed_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    verdict = Verdict([f"w-{number}" for number in range(12)])
    verdict.lose("w-1", "it gave None")
    verdict.lose("w-1", "its history is wrong")
    verdict.duplicate("w-2", "it has 2 runs")
    assert report(OPTIONS, outcome_of(verdict, kills=4)) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["w-1: it gave None", "w-1: its history is wrong", "w-2: it has 2 runs"]
    assert lines[-1] == "10 completed, 1 lost, 1 duplicated, 4 kills"


def test_a_kill_too_few_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    verdict = Verdict([f"w-{number}" for number in range(12)])
    assert report(OPTIONS, outcome_of(verdict, kills=3)) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "12 completed, 0 lost, 0 duplicated, 3 kills"


def test_a_fault_of_a_workflow_that_nobody_started_is_a_failure() -> None:
    verdict = Verdict([f"w-{number}" for number in range(12)])
    verdict.duplicate("w-99", "it has 1 runs")
    assert (verdict.completed, verdict.duplicated) == (12, 1)
    assert report(OPTIONS, outcome_of(verdict, kills=4)) == 1

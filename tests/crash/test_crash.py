"""The crash test in small: it runs, it kills, and its judgement can fail."""

import asyncio
import random
import sys
from pathlib import Path

import pytest

from crash.verdict import Verdict, judge_effects, judge_history, judge_result
from crash.work import Job, Work, make_job
from examples.ingest.activities import effects_of
from examples.ingest.model import Summary
from towline.api.history_pb2 import EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, HistoryEvent

ROOT = Path(__file__).parents[2]


async def test_workflows_survive_kills() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "crash", "--workflows", "12", "--kills", "4", "--workers", "2"),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    assert output.decode().splitlines()[-1] == "12 completed, 0 lost, 0 duplicated, 4 kills", output.decode()
    assert process.returncode == 0


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return make_job(1, tmp_path, random.Random(1))


def fill(job: Job) -> None:
    """The effects of a job that went as it should."""
    effects = effects_of(job.request)
    for key in job.keys() - {key for key, _ in job.reads()}:
        effects.put(key, "done")
    for key, stats in job.reads():
        effects.put(key, stats)


def test_effects_that_are_right(job: Job) -> None:
    fill(job)
    verdict = Verdict()
    judge_effects(verdict, job)
    assert verdict == Verdict()


def test_an_effect_that_is_missing_is_lost(job: Job) -> None:
    verdict = Verdict()
    judge_effects(verdict, job)
    assert (verdict.lost, verdict.duplicated) == (6, 0)


def test_an_effect_that_nobody_wanted_is_a_duplicate(job: Job) -> None:
    fill(job)
    effects_of(job.request).put("ingest-1/7", "again")
    verdict = Verdict()
    judge_effects(verdict, job)
    assert (verdict.lost, verdict.duplicated) == (0, 1)
    assert "ingest-1/7" in verdict.faults[0]


@pytest.mark.parametrize("wrong", [None, Summary(3, 0, 1, 1, "", ""), Summary(2, 1, 1, 1, "", "")])
async def test_a_wrong_result_is_lost(job: Job, wrong: Summary | None) -> None:
    work = Work(None, [job])  # type: ignore[arg-type]  # no client is needed to judge
    if wrong is not None:
        work.results[job.workflow_id] = wrong
    verdict = Verdict()
    judge_result(verdict, job, work)
    assert (verdict.completed, verdict.lost) == (0, 1)


def test_a_history_with_a_gap_and_with_too_many_activities(job: Job) -> None:
    verdict = Verdict()
    events = [HistoryEvent(event_id=n, event_type=EVENT_TYPE_ACTIVITY_TASK_SCHEDULED) for n in range(2, 9)]
    judge_history(verdict, job, events)
    assert (verdict.lost, verdict.duplicated) == (1, 1)

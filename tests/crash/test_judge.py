"""The judgement can fail: each thing that may go wrong is found, and counted as what it is."""

import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from crash import judge
from crash.attempts import Attempt, Attempts
from crash.verdict import Verdict
from crash.work import Job, make_job
from examples.ingest.activities import effects_of
from examples.ingest.model import Report, Summary
from examples.ingest.report import write_files
from tests.core.bench import Bench, complete_workflow, payloads, schedule_activity
from towline.api.history_pb2 import HistoryEvent
from towline.client import WorkflowExecution, WorkflowExecutionStatus
from towline.store.conformance.rows import new_run, task_row, timer_row
from towline.store.sqlite.store import SqliteStore

ID = "crash-1"


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return make_job(1, tmp_path, random.Random(1))


@pytest.fixture
def verdict() -> Verdict:
    return Verdict([ID])


def counts(verdict: Verdict) -> tuple[int, int, int]:
    return verdict.completed, verdict.lost, verdict.duplicated


RIGHT, LOST, DUPLICATED = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def execution(**fields: Any) -> WorkflowExecution:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    every: dict[str, Any] = {
        "id": ID,
        "run_id": "run-1",
        "workflow_type": "CrashIngest",
        "task_queue": "crash",
        "status": WorkflowExecutionStatus.COMPLETED,
        "start_time": now,
        "close_time": now,
        "history_length": 9,
        "history_size_bytes": 900,
        **fields,
    }
    return WorkflowExecution(**every)


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([execution()], RIGHT),
        ([], LOST),
        ([execution(status=WorkflowExecutionStatus.FAILED)], LOST),
        ([execution(), execution(run_id="run-2")], DUPLICATED),
        ([execution(), execution(id="stranger")], (1, 0, 1)),
    ],
)
def test_runs(verdict: Verdict, runs: list[WorkflowExecution], expected: tuple[int, int, int]) -> None:
    judge.judge_runs(verdict, runs)
    assert counts(verdict) == expected


def test_results(verdict: Verdict, job: Job) -> None:
    write_files(job.report, Path(job.request.output))
    judge.judge_result(verdict, job, job.summary)
    assert counts(verdict) == RIGHT
    judge.judge_result(verdict, job, None)
    assert counts(verdict) == LOST


@pytest.mark.parametrize("field", ["files", "failures", "size_bytes", "lines"])
def test_a_wrong_number_in_the_result(verdict: Verdict, job: Job, field: str) -> None:
    write_files(job.report, Path(job.request.output))
    numbers = msgspec.to_builtins(job.summary)
    wrong = msgspec.convert({**numbers, field: numbers[field] + 1}, Summary)
    judge.judge_result(verdict, job, wrong)
    assert counts(verdict) == LOST
    assert f"{field}={numbers[field] + 1}" in verdict.faults[0]


def test_a_report_without_a_file(verdict: Verdict, job: Job) -> None:
    write_files(Report(job.request.folder, files=job.files[1:]), Path(job.request.output))
    judge.judge_result(verdict, job, job.summary)
    assert counts(verdict) == LOST


def history(job: Job, *, results: list[Any] | None = None, open_ended: bool = False) -> list[HistoryEvent]:
    """The run of a job, with an activity for each result, one after another."""
    results = list(job.effects().values()) if results is None else results
    box = Bench()
    box.start()
    for number, result in enumerate(results, start=1):
        box.complete(box.take_workflow_task(), schedule_activity(str(number)))
        box.complete_activity(box.take_activity(), payloads(msgspec.json.encode(result)))
    if not open_ended:
        box.complete(box.take_workflow_task(), complete_workflow())
    return box.history


def test_a_right_history(verdict: Verdict, job: Job) -> None:
    judge.judge_history(verdict, job, history(job))
    assert (counts(verdict), verdict.faults) == (RIGHT, [])


@pytest.mark.parametrize(
    ("damaged", "expected", "fault"),
    [
        (lambda job: history(job)[1:], LOST, "its history is wrong: event 2"),
        (lambda job: history(job, open_ended=True), LOST, "ends as RUNNING"),
        (lambda job: history(job, results=[*job.effects().values()][:-1]), LOST, "activity crash-1/6 is not there"),
        (lambda job: history(job, results=[*job.effects().values(), 1]), DUPLICATED, "activity crash-1/7 is there 1"),
        (lambda job: history(job, results=[*[*job.effects().values()][:-1], {}]), LOST, "activity crash-1/6 gave {}"),
    ],
    ids=["gap", "open", "activity missing", "activity too many", "wrong result"],
)
def test_a_wrong_history(
    verdict: Verdict,
    job: Job,
    damaged: Callable[[Job], list[HistoryEvent]],
    expected: tuple[int, int, int],
    fault: str,
) -> None:
    judge.judge_history(verdict, job, damaged(job))
    assert counts(verdict) == expected
    assert fault in verdict.faults[0]


def leave(job: Job, effects: dict[str, Any]) -> None:
    for key, effect in effects.items():
        effects_of(job.request).put(key, effect)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, RIGHT),
        ({"crash-1/3": None}, LOST),
        ({"crash-1/4": {"path": "4.txt", "size_bytes": 1, "lines": 1, "sha256": "0"}}, LOST),
        ({"crash-1/7": "again"}, DUPLICATED),
        ({"crash-2/1": "of another one"}, DUPLICATED),
    ],
    ids=["right", "missing", "wrong", "too many", "a stranger's"],
)
def test_effects(verdict: Verdict, job: Job, change: dict[str, Any], expected: tuple[int, int, int]) -> None:
    leave(job, {key: effect for key, effect in {**job.effects(), **change}.items() if effect is not None})
    judge.judge_effects(verdict, job)
    assert counts(verdict) == expected


def begin(job: Job, *keys: str, number: int, token: bytes | None = None) -> None:
    for key in keys:
        attempts = Attempts(Path(job.request.output))
        attempts.begin(key, attempt=number, token=token or f"{key} {number}".encode(), resumed=False)


def judged_attempts(verdict: Verdict, job: Job) -> tuple[int, int, int]:
    judge.judge_attempts(verdict, job, Attempts(Path(job.request.output)).read())
    return counts(verdict)


def test_attempts(verdict: Verdict, job: Job) -> None:
    begin(job, *job.effects(), number=1)
    begin(job, job.failing_key, number=2)
    assert judged_attempts(verdict, job) == RIGHT


def test_no_attempt_at_all(verdict: Verdict, job: Job) -> None:
    assert judged_attempts(verdict, job) == LOST


def test_a_failure_that_nobody_tried_again(verdict: Verdict, job: Job) -> None:
    begin(job, *job.effects(), number=1)
    assert judged_attempts(verdict, job) == LOST
    assert verdict.faults == ["crash-1: activity crash-1/1 failed, and was not tried again"]


def test_a_delivery_that_began_twice(verdict: Verdict, job: Job) -> None:
    begin(job, *job.effects(), number=1)
    begin(job, job.failing_key, number=2)
    begin(job, "crash-1/3", number=1)
    assert judged_attempts(verdict, job) == DUPLICATED
    assert verdict.faults == ["crash-1: one delivery of crash-1/3 (attempt 1) began 2 times"]


def test_an_attempt_at_what_nobody_wanted(verdict: Verdict, job: Job) -> None:
    begin(job, *job.effects(), "crash-1/7", number=1)
    begin(job, job.failing_key, number=2)
    assert judged_attempts(verdict, job) == DUPLICATED


def test_attempts_are_read_as_they_were_noted(tmp_path: Path) -> None:
    attempts = Attempts(tmp_path / "out")
    assert attempts.read() == []
    attempts.begin("w/1", attempt=2, token=b"a", resumed=True)
    attempts.begin("w/1", attempt=3, token=b"b", resumed=False)
    first, second = attempts.read()
    assert (first.key, first.number, first.resumed) == ("w/1", 2, True)
    assert second == Attempt(key="w/1", number=3, token=second.token, resumed=False)
    assert first.token != second.token


@pytest.mark.parametrize(
    ("left", "fault"),
    [
        ({}, None),
        ({"tasks_put": [task_row("run-1", visible_at_ms=0)]}, "task run-1/wt/2 is left"),
        ({"tasks_put": [task_row("run-1", lease_token=1, lease_expires_at_ms=1 << 40)]}, "task run-1/wt/2 is left"),
        ({"timers_set": [timer_row("run-1")]}, "timer timer/5 is left"),
    ],
    ids=["nothing", "ready task", "leased task", "timer"],
)
async def test_what_is_left_in_the_store(tmp_path: Path, left: dict[str, Any], fault: str | None) -> None:
    path, batch = tmp_path / "crash.db", new_run()
    for name, rows in left.items():
        setattr(batch, name, rows)
    store = SqliteStore(path)
    await store.open()
    assert await store.commit([batch]) == [True]
    await store.close()
    verdict = Verdict(["order-1"])
    await judge.judge_store(verdict, path)
    assert verdict.faults == ([] if fault is None else [f"order-1: {fault}"])

"""The checks: results, histories, effects, attempts, runs, and what is left in the store."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import msgspec

from crash.attempts import Attempt, Attempts
from crash.verdict import Verdict
from crash.work import Job
from examples.ingest.activities import effects_of
from examples.ingest.model import Report, Summary
from tests.core.history_checks import check_history
from towline.api.common_pb2 import WORKFLOW_EXECUTION_STATUS_COMPLETED, Payloads
from towline.api.history_pb2 import HistoryEvent
from towline.client import Client, WorkflowExecution, WorkflowExecutionStatus, WorkflowFailureError
from towline.core.apply import CorruptHistory, fold
from towline.store.sqlite.store import SqliteStore

_FAR_FUTURE_MS: Final = 1 << 52
_MANY: Final = 1_000_000
Results = Mapping[str, Summary | WorkflowFailureError]


async def judge(verdict: Verdict, jobs: Sequence[Job], results: Results, client: Client) -> list[Attempt]:
    """Look at every workflow, over the API and on the disk. Gives all attempts of all activities."""
    judge_runs(verdict, [run async for run in client.list_workflows()])
    attempts: list[Attempt] = []
    for job in jobs:
        events = (await client.get_workflow_handle(job.workflow_id).fetch_history()).events
        judge_result(verdict, job, results.get(job.workflow_id))
        judge_history(verdict, job, events)
        judge_effects(verdict, job)
        begun = Attempts(Path(job.request.output)).read()
        judge_attempts(verdict, job, begun)
        attempts += begun
    return attempts


def judge_runs(verdict: Verdict, runs: Sequence[WorkflowExecution]) -> None:
    """Every workflow has one run, which completed, and there are no others."""
    counts = Counter(run.id for run in runs)
    for workflow_id in verdict.workflows:
        if not counts[workflow_id]:
            verdict.lose(workflow_id, "it has no run")
    for workflow_id, count in counts.items():
        if count > 1 or workflow_id not in verdict.workflows:
            verdict.duplicate(workflow_id, f"it has {count} runs")
    for run in runs:
        if run.status is not WorkflowExecutionStatus.COMPLETED:
            verdict.lose(run.id, f"its run {run.run_id} is {run.status.name}")


def judge_result(verdict: Verdict, job: Job, result: Summary | WorkflowFailureError | None) -> None:
    """The workflow gave what it must, and its report says what it must."""
    if result != job.summary:
        verdict.lose(job.workflow_id, f"it gave {result!r}, it must give {job.summary}")
    path = Path(job.summary.report_json)
    report = msgspec.json.decode(path.read_bytes(), type=Report) if path.exists() else None
    if report != job.report:
        verdict.lose(job.workflow_id, f"its report is {report}, it must be {job.report}")


def judge_history(verdict: Verdict, job: Job, events: Sequence[HistoryEvent]) -> None:
    """The history is one that a run may have, ends in completion, and has each activity once, with its effect."""
    try:
        check_history(events)
        state = fold(events)
    except (AssertionError, CorruptHistory) as error:
        verdict.lose(job.workflow_id, f"its history is wrong: {error}")
        return
    if state.status != WORKFLOW_EXECUTION_STATUS_COMPLETED or state.activities or state.workflow_task:
        pending = [activity.activity_id for activity in state.activities.values()]
        verdict.lose(job.workflow_id, f"its history ends as {state.status_name()}, with activities {pending} pending")
    activities = Counter(f"{job.workflow_id}/{activity_id}" for activity_id in _scheduled(events).values())
    _judge_keys(verdict, job, activities, what="activity")
    results, effects = _results(job, events), job.effects()
    for key, effect in effects.items():
        if results.get(key) != effect:
            verdict.lose(job.workflow_id, f"activity {key} gave {results.get(key)}, it must give {effect}")


def judge_effects(verdict: Verdict, job: Job) -> None:
    """Every activity left its effect under its key, the right one, and there are no others."""
    effects, wanted = effects_of(job.request), job.effects()
    found = [unquote(name) for name in effects.keys()]  # noqa: SIM118  # it is no dict
    _judge_keys(verdict, job, Counter(found), what="effect")
    for key in wanted.keys() & set(found):
        effect = effects.get(key, object)
        if effect != wanted[key]:
            verdict.lose(job.workflow_id, f"effect {key} is {effect}, it must be {wanted[key]}")


def judge_attempts(verdict: Verdict, job: Job, attempts: Sequence[Attempt]) -> None:
    """Every activity began and no others did, the one that must fail once began again, no delivery began twice."""
    _judge_keys(verdict, job, Counter({attempt.key for attempt in attempts}), what="attempt at")
    if not any(attempt.key == job.failing_key and attempt.number > 1 for attempt in attempts):
        verdict.lose(job.workflow_id, f"activity {job.failing_key} failed, and was not tried again")
    for token, count in Counter(attempt.token for attempt in attempts).items():
        if count > 1:
            twice = next(attempt for attempt in attempts if attempt.token == token)
            what = f"one delivery of {twice.key} (attempt {twice.number}) began {count} times"
            verdict.duplicate(job.workflow_id, what)


async def judge_store(verdict: Verdict, path: Path) -> None:
    """Closed runs leave no task and no timer behind. The server must have let go of the file."""
    store = SqliteStore(path)
    await store.open()
    try:
        tasks = [
            *await store.expiring_tasks(_FAR_FUTURE_MS, _MANY),
            *await store.delayed_tasks(-1, _FAR_FUTURE_MS, _MANY),
        ]
        for task in tasks:
            verdict.duplicate(task.workflow_id, f"task {task.task_id} is left")
        for timer in await store.due_timers(_FAR_FUTURE_MS, _MANY):
            verdict.duplicate(timer.workflow_id, f"timer {timer.timer_id} is left")
    finally:
        await store.close()


def _judge_keys(verdict: Verdict, job: Job, found: Counter[str], *, what: str) -> None:
    for key in job.effects():
        if not found[key]:
            verdict.lose(job.workflow_id, f"{what} {key} is not there")
    for key, count in found.items():
        if count > 1 or key not in job.effects():
            verdict.duplicate(job.workflow_id, f"{what} {key} is there {count} times")


def _scheduled(events: Iterable[HistoryEvent]) -> dict[int, str]:
    """Activity ids by the event that scheduled them."""
    return {
        event.event_id: event.activity_task_scheduled.activity_id
        for event in events
        if event.WhichOneof("attributes") == "activity_task_scheduled"
    }


def _results(job: Job, events: Sequence[HistoryEvent]) -> dict[str, Any]:
    """What each activity gave, by idempotency key; the last one, if there are several."""
    scheduled = _scheduled(events)
    closed = [
        event.activity_task_completed for event in events if event.WhichOneof("attributes") == "activity_task_completed"
    ]
    return {f"{job.workflow_id}/{scheduled[each.scheduled_event_id]}": _decoded(each.result) for each in closed}


def _decoded(result: Payloads) -> Any:
    return msgspec.json.decode(result.payloads[0].data)

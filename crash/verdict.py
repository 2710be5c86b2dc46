"""What came of it: every result, every history, every effect, and what is left in the store."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from crash.work import Job, Work
from examples.ingest.activities import effects_of
from examples.ingest.model import FileStats, Summary
from tests.core.history_checks import check_history
from towline.api import history_pb2 as history
from towline.api.history_pb2 import HistoryEvent
from towline.client import Client
from towline.store.sqlite.store import SqliteStore

_FAR_FUTURE_MS = 1 << 52


@dataclass(slots=True)
class Verdict:
    """Counts, and a line for each thing that is wrong."""

    completed: int = 0
    lost: int = 0
    duplicated: int = 0
    faults: list[str] = field(default_factory=list)

    def lose(self, what: str) -> None:
        """Something is not there."""
        self.lost += 1
        self.faults.append(what)

    def duplicate(self, what: str) -> None:
        """Something is there more than once."""
        self.duplicated += 1
        self.faults.append(what)


async def judge(work: Work, client: Client) -> tuple[Verdict, list[str]]:
    """Look at every workflow; gives the run ids, too."""
    verdict = Verdict()
    run_ids = []
    for job in work.jobs:
        events = (await client.get_workflow_handle(job.workflow_id).fetch_history()).events
        run_ids.append(events[0].workflow_execution_started.run_id)
        judge_result(verdict, job, work)
        judge_history(verdict, job, events)
        judge_effects(verdict, job)
    return verdict, run_ids


async def judge_store(verdict: Verdict, path: Path, run_ids: list[str]) -> None:
    """Closed runs leave no task and no timer."""
    store = SqliteStore(path)
    await store.open()
    try:
        for run_id in run_ids:
            stored = await store.load_run(run_id)
            if stored is None:
                verdict.lose(f"run {run_id} is not stored")
            elif stored.tasks:
                verdict.duplicate(f"run {run_id} left tasks: {[row.task_id for row in stored.tasks]}")
        for timer in await store.due_timers(_FAR_FUTURE_MS, 10):
            verdict.duplicate(f"run {timer.run_id} left timer {timer.timer_id}")
    finally:
        await store.close()


def judge_result(verdict: Verdict, job: Job, work: Work) -> None:
    """The workflow ended, and with what it must give."""
    result = work.results.get(job.workflow_id)
    if isinstance(result, Summary) and job.right(result):
        verdict.completed += 1
    else:
        verdict.lose(f"{job.workflow_id} came to {result!r}")


def judge_history(verdict: Verdict, job: Job, events: Sequence[HistoryEvent]) -> None:
    """The history is one that a run may have, and has each activity once."""
    try:
        check_history(events)
    except AssertionError as error:
        verdict.lose(f"{job.workflow_id} has a wrong history: {error}")
    kinds = [event.event_type for event in events]
    for kind in (history.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, history.EVENT_TYPE_ACTIVITY_TASK_COMPLETED):
        if kinds.count(kind) > len(job.keys()):
            verdict.duplicate(f"{job.workflow_id} has {kinds.count(kind)} {history.EventType.Name(kind)}")


def judge_effects(verdict: Verdict, job: Job) -> None:
    """Every activity left its effect under its key, and there are no others."""
    effects = effects_of(job.request)
    found, wanted = {unquote(name) for name in effects.keys()}, job.keys()  # noqa: SIM118  # it is no dict
    for key in sorted(wanted - found):
        verdict.lose(f"effect {key} is not there")
    for key in sorted(found - wanted):
        verdict.duplicate(f"effect {key} is nobody's")
    for key, stats in job.reads():
        if key in found and effects.get(key, FileStats) != stats:
            verdict.lose(f"effect {key} is not {stats}")

"""SQLite and the reference model do the same, whatever is asked of them."""

import asyncio
import copy
import tempfile
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from towline.core.task import TaskRow
from towline.store.api import Batch, RunFilter, Store
from towline.store.conformance.contents import contents
from towline.store.conformance.rows import COMPLETED, FAILED, RUNNING, blob, run_row, task_row, timer_row
from towline.store.memory import MemoryStore
from towline.store.sqlite.store import SqliteStore

T = TypeVar("T")

NAMESPACES = st.sampled_from(["default", "other"])
WORKFLOW_IDS = st.sampled_from(["order-1", "order-2"])
RUN_IDS = st.sampled_from(["run-1", "run-2", "run-3", "run-4"])
TASK_NUMBERS = st.integers(1, 3)
TIMES_MS = st.integers(0, 5)
STATUSES = st.sampled_from([RUNNING, RUNNING, RUNNING, COMPLETED, FAILED])
LIMITS = st.integers(1, 5)
SELDOM = st.sampled_from([False] * 7 + [True])


async def draw_batch(data: st.DataObject, model: Store) -> Batch:
    """A batch that mostly fits what the model holds."""
    run_id = data.draw(RUN_IDS, "run id")
    stored = await model.load_run(run_id)
    if stored is not None:
        row, tasks = stored.row, stored.tasks
    else:
        row = run_row(
            run_id,
            namespace=data.draw(NAMESPACES, "namespace"),
            workflow_id=data.draw(WORKFLOW_IDS, "workflow id"),
            start_time_ms=data.draw(TIMES_MS, "start time"),
            last_event_id=0,
            revision=0,
        )
        tasks = []
    count = data.draw(st.integers(0 if stored else 1, 3), "events")
    status = data.draw(STATUSES, "status")
    after = replace(row, last_event_id=row.last_event_id + count, status=status)
    if after.closed() and not row.closed():
        after = replace(after, close_time_ms=data.draw(TIMES_MS, "close time"))
    batch = Batch(replace(after, revision=row.revision + 1 + data.draw(SELDOM, "stale")))
    newest = await model.find_run(row.namespace, row.workflow_id)
    batch.replaces_run_id = newest.run_id if newest and not data.draw(SELDOM, "replaces none") else ""
    if count:
        batch.first_event_id = row.last_event_id + 1
        batch.events = blob(run_id, batch.first_event_id, after.last_event_id)
    draw_tasks(data, batch, tasks)
    for number in data.draw(st.sets(TASK_NUMBERS), "timers"):
        if data.draw(st.booleans(), "set"):
            batch.timers_set.append(timer_row(run_id, f"timer/{number}", data.draw(TIMES_MS, "fire at")))
        else:
            batch.timers_cleared.append((run_id, f"timer/{number}"))
    return batch


def draw_tasks(data: st.DataObject, batch: Batch, stored: list[TaskRow]) -> None:
    """Put, change and acknowledge tasks, now and then one that is not stored."""
    by_number = {row.scheduled_event_id: row for row in stored}
    for number in data.draw(st.sets(TASK_NUMBERS), "tasks"):
        before = by_number.get(number)
        row = task_row(
            batch.run.run_id,
            number,
            queue=data.draw(st.sampled_from(["wf:orders", "act:orders"]), "queue"),
            visible_at_ms=data.draw(TIMES_MS, "visible at"),
            lease_expires_at_ms=data.draw(st.sampled_from([0, 0, 1, 2, 3]), "lease expires at"),
            priority=data.draw(st.integers(1, 3), "priority"),
        )
        if data.draw(st.booleans() if before else SELDOM, "acknowledge"):
            batch.tasks_acked.append(before or row)
        else:
            batch.tasks_put.append(row)


class Comparison(RuleBasedStateMachine):
    """Both stores side by side."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.runner = asyncio.Runner()
        self.model = MemoryStore()
        self.sqlite = SqliteStore(Path(self.folder.name) / "towline.db")
        self.run(self.sqlite.open())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    async def compare(self, question: str, *arguments: Any) -> None:
        expected = await getattr(self.model, question)(*arguments)
        assert await getattr(self.sqlite, question)(*arguments) == expected, (question, arguments)

    @rule(data=st.data(), size=st.integers(1, 6))
    def commit(self, data: st.DataObject, size: int) -> None:
        self.run(self._commit(data, size))

    async def _commit(self, data: st.DataObject, size: int) -> None:
        ahead = copy.deepcopy(self.model)
        group = []
        for _ in range(size):
            group.append(await draw_batch(data, ahead))
            await ahead.commit(group[-1:])
        await self.compare("commit", group)
        assert await contents(self.sqlite) == await contents(self.model)

    @rule(run_ids=st.lists(RUN_IDS, max_size=2))
    def delete_runs(self, run_ids: list[str]) -> None:
        self.run(self._delete_runs(run_ids))

    async def _delete_runs(self, run_ids: list[str]) -> None:
        await self.compare("delete_runs", run_ids)
        assert await contents(self.sqlite) == await contents(self.model)

    @rule(namespace=NAMESPACES, workflow_id=WORKFLOW_IDS, run_id=st.one_of(st.just(""), RUN_IDS))
    def find_run(self, namespace: str, workflow_id: str, run_id: str) -> None:
        self.run(self.compare("find_run", namespace, workflow_id, run_id))

    @rule(run_id=RUN_IDS, first_event_id=st.integers(0, 12), maximum_bytes=st.integers(0, 100))
    def read_history(self, run_id: str, first_event_id: int, maximum_bytes: int) -> None:
        self.run(self.compare("read_history", run_id, first_event_id, maximum_bytes))

    @rule(namespace=NAMESPACES, now_ms=TIMES_MS, limit=LIMITS)
    def ready_tasks(self, namespace: str, now_ms: int, limit: int) -> None:
        self.run(self.compare("ready_tasks", namespace, "wf:orders", now_ms, limit))

    @rule(after_ms=TIMES_MS, until_ms=TIMES_MS, limit=LIMITS)
    def what_is_due(self, after_ms: int, until_ms: int, limit: int) -> None:
        self.run(self.compare("expiring_tasks", until_ms, limit))
        self.run(self.compare("delayed_tasks", after_ms, until_ms, limit))
        self.run(self.compare("due_timers", until_ms, limit))
        self.run(self.compare("closed_runs", until_ms, limit))

    @rule(
        namespace=NAMESPACES,
        workflow_id=st.one_of(st.just(""), WORKFLOW_IDS),
        status=st.sampled_from([0, RUNNING, COMPLETED]),
        limit=LIMITS,
        before=st.one_of(st.none(), st.tuples(TIMES_MS, RUN_IDS)),
    )
    def list_runs(
        self, namespace: str, workflow_id: str, status: int, limit: int, before: tuple[int, str] | None
    ) -> None:
        where = RunFilter(namespace, workflow_id, status=status)
        self.run(self.compare("list_runs", where, limit, before))
        self.run(self.compare("count_runs", where))

    def teardown(self) -> None:
        self.run(self.sqlite.close())
        self.runner.close()
        self.folder.cleanup()


def test_sqlite_does_what_the_model_does() -> None:
    run_state_machine_as_test(
        Comparison, settings=settings(max_examples=40, stateful_step_count=25, deadline=None, derandomize=True)
    )

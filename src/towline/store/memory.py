"""The reference model: what a store does, with dicts. Also a store for tests and for runs that need not last."""

from collections.abc import Sequence

from towline.core.task import TaskRow, TimerRow
from towline.store.api import Batch, HistoryPage, RunFilter, RunRow, StoredRun, TaskHint

Key = tuple[str, str]


class MemoryStore:
    """A `Store` without a disk. Closing keeps the contents, so that it can be opened again as a database could."""

    def __init__(self) -> None:
        self._runs: dict[str, RunRow] = {}
        self._run_ids: dict[Key, list[str]] = {}  # (namespace, workflow id): the runs, the newest last
        self._histories: dict[str, list[tuple[int, int, bytes]]] = {}  # run id: (first event id, last event id, blob)
        self._tasks: dict[Key, TaskRow] = {}  # (run id, task id)
        self._timers: dict[Key, TimerRow] = {}  # (run id, timer id)
        self._next_lease_token = 1

    async def open(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def commit(self, batches: Sequence[Batch]) -> list[bool]:
        return [self._commit_one(batch) for batch in batches]

    async def reserve_lease_tokens(self, count: int) -> int:
        first = self._next_lease_token
        self._next_lease_token += count
        return first

    async def load_run(self, run_id: str) -> StoredRun | None:
        row = self._runs.get(run_id)
        if row is None:
            return None
        tasks = sorted((task for task in self._tasks.values() if task.run_id == run_id), key=lambda task: task.task_id)
        return StoredRun(row, [blob for _, _, blob in self._histories[run_id]], tasks)

    async def find_run(self, namespace: str, workflow_id: str, run_id: str = "") -> RunRow | None:
        if not run_id:
            return self._newest(namespace, workflow_id)
        row = self._runs.get(run_id)
        if row is None or (row.namespace, row.workflow_id) != (namespace, workflow_id):
            return None
        return row

    async def read_history(self, run_id: str, first_event_id: int, maximum_bytes: int) -> HistoryPage:
        page: list[tuple[int, int, bytes]] = []
        size_bytes = 0
        for first, last, blob in self._histories.get(run_id, []):
            if last < first_event_id:
                continue
            size_bytes += len(blob)
            if page and size_bytes > maximum_bytes:
                break
            page.append((first, last, blob))
        if not page:
            return HistoryPage([], 0, 0)
        return HistoryPage([blob for _, _, blob in page], page[0][0], page[-1][1])

    async def ready_tasks(self, namespace: str, queue: str, now_ms: int, limit: int) -> list[TaskHint]:
        ready = [
            TaskHint(task.namespace, task.queue, task.task_id, task.run_id, task.priority, task.visible_at_ms)
            for task in self._tasks.values()
            if (task.namespace, task.queue) == (namespace, queue) and not task.leased() and task.visible_at_ms <= now_ms
        ]
        return sorted(ready, key=lambda hint: (hint.priority, hint.visible_at_ms, hint.task_id))[:limit]

    async def expiring_tasks(self, until_ms: int, limit: int) -> list[TaskRow]:
        tasks = [task for task in self._tasks.values() if task.leased() and task.lease_expires_at_ms <= until_ms]
        return sorted(tasks, key=lambda task: (task.lease_expires_at_ms, task.task_id))[:limit]

    async def delayed_tasks(self, after_ms: int, until_ms: int, limit: int) -> list[TaskRow]:
        tasks = [t for t in self._tasks.values() if not t.leased() and after_ms < t.visible_at_ms <= until_ms]
        return sorted(tasks, key=lambda task: (task.visible_at_ms, task.task_id))[:limit]

    async def due_timers(self, until_ms: int, limit: int) -> list[TimerRow]:
        timers = [timer for timer in self._timers.values() if timer.fire_at_ms <= until_ms]
        return sorted(timers, key=lambda timer: (timer.fire_at_ms, timer.run_id, timer.timer_id))[:limit]

    async def list_runs(self, where: RunFilter, limit: int, before: tuple[int, str] | None = None) -> list[RunRow]:
        runs = [row for row in self._matching(where) if before is None or (row.start_time_ms, row.run_id) < before]
        return sorted(runs, key=lambda row: (row.start_time_ms, row.run_id), reverse=True)[:limit]

    async def count_runs(self, where: RunFilter) -> int:
        return len(self._matching(where))

    async def closed_runs(self, before_ms: int, limit: int) -> list[RunRow]:
        runs = [row for row in self._runs.values() if row.closed() and row.close_time_ms < before_ms]
        return sorted(runs, key=lambda row: (row.close_time_ms, row.run_id))[:limit]

    async def delete_runs(self, run_ids: Sequence[str]) -> None:
        for run_id in run_ids:
            row = self._runs.get(run_id)
            if row is not None and row.closed():
                self._delete(row)

    def _commit_one(self, batch: Batch) -> bool:
        if not self._applies(batch):
            return False
        self._write(batch)
        return True

    def _applies(self, batch: Batch) -> bool:
        stored = self._runs.get(batch.run.run_id)
        if (stored.revision if stored else 0) != batch.expected_revision:
            return False
        return stored is not None or self._may_start(batch)

    def _may_start(self, batch: Batch) -> bool:
        newest = self._newest(batch.run.namespace, batch.run.workflow_id)
        if newest is None:
            return batch.replaces_run_id == ""
        return newest.run_id == batch.replaces_run_id and newest.closed()

    def _write(self, batch: Batch) -> None:
        run = batch.run
        if run.run_id not in self._runs:
            self._run_ids.setdefault((run.namespace, run.workflow_id), []).append(run.run_id)
            self._histories[run.run_id] = []
        self._runs[run.run_id] = run
        if batch.events:
            self._histories[run.run_id].append((batch.first_event_id, run.last_event_id, batch.events))
        for row in batch.tasks_put:
            self._tasks[row.run_id, row.task_id] = row
        for row in batch.tasks_acked:
            self._tasks.pop((row.run_id, row.task_id), None)
        for timer in batch.timers_set:
            self._timers[timer.run_id, timer.timer_id] = timer
        for key in batch.timers_cleared:
            self._timers.pop(key, None)

    def _newest(self, namespace: str, workflow_id: str) -> RunRow | None:
        run_ids = self._run_ids.get((namespace, workflow_id))
        return self._runs[run_ids[-1]] if run_ids else None

    def _matching(self, where: RunFilter) -> list[RunRow]:
        return [
            row
            for row in self._runs.values()
            if row.namespace == where.namespace
            and where.workflow_id in ("", row.workflow_id)
            and where.workflow_type in ("", row.workflow_type)
            and where.status in (0, row.status)
        ]

    def _delete(self, row: RunRow) -> None:
        del self._runs[row.run_id]
        del self._histories[row.run_id]
        self._run_ids[row.namespace, row.workflow_id].remove(row.run_id)
        self._tasks = {key: task for key, task in self._tasks.items() if task.run_id != row.run_id}
        self._timers = {key: timer for key, timer in self._timers.items() if timer.run_id != row.run_id}

"""Tasks: they change with their run, and are found when they are due."""

from dataclasses import replace
from typing import Any

from towline.core.task import TaskRow
from towline.store.api import Batch, Store, TaskHint
from towline.store.conformance.contents import stored
from towline.store.conformance.rows import blob, more_events, new_run, task_row


async def store_tasks(store: Store, *tasks: TaskRow) -> Batch:
    """Tasks as they are, with a run that has them; returns its batch."""
    batch = new_run(tasks[0].run_id)
    batch.tasks_put = list(tasks)
    assert await store.commit([batch]) == [True]
    return batch


def numbered(number: int, **fields: Any) -> TaskRow:
    """A task of run-1 with a task id of its own."""
    return task_row("run-1", number, **fields)


def hint(task: TaskRow) -> TaskHint:
    return TaskHint(task.namespace, task.queue, task.task_id, task.run_id, task.priority, task.visible_at_ms)


class TaskConformance:
    """What the store promises of tasks."""

    async def test_a_task_is_changed_and_acknowledged(self, store: Store) -> None:
        batch = await store_tasks(store, task := numbered(2), other := numbered(3))
        leased = replace(task, lease_token=5, lease_expires_at_ms=9_000, attempt=2, details=b"\x01", queue="act:x")
        change = more_events(batch.run, 0)
        change.tasks_put = [leased]
        assert await store.commit([change]) == [True]
        assert (await stored(store, "run-1")).tasks == [leased, other]
        ack = more_events(change.run, 1)
        ack.tasks_acked = [leased]
        assert await store.commit([ack]) == [True]
        assert (await stored(store, "run-1")).tasks == [other]
        assert await store.expiring_tasks(100_000, 10) == []

    async def test_acknowledging_a_task_that_is_not_stored_does_nothing(self, store: Store) -> None:
        batch = await store_tasks(store, task := numbered(2))
        ack = more_events(batch.run, 1)
        ack.tasks_acked = [numbered(3)]
        assert await store.commit([ack]) == [True]
        run = await stored(store, "run-1")
        assert (run.row, run.tasks) == (ack.run, [task])

    async def test_tasks_change_hands_within_a_group(self, store: Store) -> None:
        start = new_run("run-1")
        start.tasks_put = [task := numbered(2)]
        lease, other = more_events(start.run, 0), more_events(start.run, 0)
        lease.tasks_put = [leased := replace(task, lease_expires_at_ms=9_000)]
        other.tasks_put = [replace(task, lease_expires_at_ms=8_000)]
        done, twice = more_events(lease.run, 1), more_events(lease.run, 1)
        done.tasks_acked, done.tasks_put = [leased], [following := numbered(3)]
        twice.tasks_acked = [leased]
        again = more_events(done.run, 1)
        again.tasks_put = [numbered(2, attempt=4)]
        group = [start, lease, other, done, twice, again]
        assert await store.commit(group) == [True, True, False, True, False, True]
        run = await stored(store, "run-1")
        assert run.tasks == [numbered(2, attempt=4), following]
        assert run.blobs == [blob("run-1", 1, 2), blob("run-1", 3, 3), blob("run-1", 4, 4)]

    async def test_ready_tasks_are_visible_and_not_leased(self, store: Store) -> None:
        ready = numbered(2, visible_at_ms=500)
        await store_tasks(
            store,
            ready,
            numbered(3, visible_at_ms=501),
            numbered(4, lease_token=1, lease_expires_at_ms=400),
            numbered(5, queue="act:orders"),
            numbered(6, namespace="other"),
        )
        assert await store.ready_tasks("default", "wf:orders", 500, 10) == [hint(ready)]
        assert await store.ready_tasks("default", "wf:orders", 499, 10) == []
        assert await store.ready_tasks("default", "wf:nothing", 500, 10) == []

    async def test_ready_tasks_come_by_priority_then_time_then_task_id(self, store: Store) -> None:
        tasks = [
            numbered(9, priority=1, visible_at_ms=20),
            numbered(8, priority=1, visible_at_ms=30),
            numbered(2, priority=3, visible_at_ms=10),
            numbered(3, priority=3, visible_at_ms=10),
            numbered(1, priority=3, visible_at_ms=11),
            numbered(7, priority=5, visible_at_ms=5),
        ]
        late = [numbered(10 + level, priority=level, visible_at_ms=1_000) for level in range(1, 6)]
        await store_tasks(store, *reversed(tasks), *late)
        for limit in range(1, 8):
            expected = [hint(task) for task in tasks[:limit]]
            assert await store.ready_tasks("default", "wf:orders", 100, limit) == expected

    async def test_expiring_tasks_are_leased_and_come_by_expiry_then_task_id(self, store: Store) -> None:
        tasks = [
            numbered(4, lease_expires_at_ms=100),
            numbered(2, lease_expires_at_ms=200, details=b"\x00\xff"),
            numbered(3, lease_expires_at_ms=200),
            numbered(1, lease_expires_at_ms=201),
        ]
        await store_tasks(store, *reversed(tasks), numbered(5, visible_at_ms=0))
        assert await store.expiring_tasks(200, 10) == tasks[:3]
        assert await store.expiring_tasks(199, 10) == tasks[:1]
        assert await store.expiring_tasks(1_000, 2) == tasks[:2]
        assert await store.expiring_tasks(99, 10) == []

    async def test_delayed_tasks_become_visible_in_a_span_of_time(self, store: Store) -> None:
        tasks = [
            numbered(4, visible_at_ms=101),
            numbered(2, visible_at_ms=200, details=b"\x00\xff"),
            numbered(3, visible_at_ms=200),
        ]
        outside = [numbered(5, visible_at_ms=100), numbered(6, visible_at_ms=201)]
        await store_tasks(store, *reversed(tasks), *outside, numbered(7, visible_at_ms=150, lease_expires_at_ms=150))
        assert await store.delayed_tasks(100, 200, 10) == tasks
        assert await store.delayed_tasks(100, 200, 2) == tasks[:2]
        assert await store.delayed_tasks(200, 200, 10) == []

    async def test_a_released_task_is_ready_again(self, store: Store) -> None:
        batch = await store_tasks(store, task := numbered(2, lease_token=1, lease_expires_at_ms=9_000))
        release = more_events(batch.run, 0)
        release.tasks_put = [free := replace(task, lease_expires_at_ms=0, visible_at_ms=70)]
        assert await store.commit([release]) == [True]
        assert await store.ready_tasks("default", "wf:orders", 70, 10) == [hint(free)]
        assert await store.expiring_tasks(100_000, 10) == []
        assert await store.delayed_tasks(0, 100, 10) == [free]

"""All that a store holds, to compare: with another store, or with itself before and after."""

from dataclasses import dataclass
from typing import Final

from towline.core.task import TaskRow, TimerRow
from towline.store.api import RunFilter, Store, StoredRun

NAMESPACES: Final = ("default", "other")
FOREVER_MS: Final = 2**60
ALL: Final = 100_000


@dataclass(frozen=True)
class Contents:
    """Equal if and only if two stores hold the same."""

    runs: list[StoredRun | None]
    newest_run_ids: dict[tuple[str, str], str | None]  # by namespace and workflow id
    leased: list[TaskRow]
    unleased: list[TaskRow]
    timers: list[TimerRow]


async def contents(store: Store) -> Contents:
    """What the store holds of `NAMESPACES`."""
    rows = [row for namespace in NAMESPACES for row in await store.list_runs(RunFilter(namespace), ALL)]
    newest = {}
    for row in rows:
        found = await store.find_run(row.namespace, row.workflow_id)
        newest[row.namespace, row.workflow_id] = found.run_id if found else None
    return Contents(
        runs=[await store.load_run(row.run_id) for row in rows],
        newest_run_ids=newest,
        leased=await store.expiring_tasks(FOREVER_MS, ALL),
        unleased=await store.delayed_tasks(-1, FOREVER_MS, ALL),
        timers=await store.due_timers(FOREVER_MS, ALL),
    )


async def stored(store: Store, run_id: str) -> StoredRun:
    """A run that must be there."""
    run = await store.load_run(run_id)
    assert run is not None, f"{run_id} is not stored"
    return run

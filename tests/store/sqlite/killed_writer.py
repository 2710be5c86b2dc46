"""A process to be killed: it starts and closes runs for ever and prints, line by line, what was acknowledged."""

import asyncio
import sys
from itertools import count
from pathlib import Path

from towline.store.conformance.rows import closing, new_run, task_row, timer_row
from towline.store.group import GroupCommit
from towline.store.sqlite.store import SqliteStore


async def keep_writing(group: GroupCommit, name: str) -> None:
    for number in count():
        run_id = f"{name}-{number}"
        start = new_run(run_id, workflow_id=run_id)
        start.tasks_put, start.timers_set = [task_row(run_id)], [timer_row(run_id)]
        assert await group.commit(start)
        sys.stdout.write(f"started {run_id}\n")
        sys.stdout.flush()
        end = closing(start.run)
        end.tasks_acked, end.timers_cleared = start.tasks_put, [(run_id, "timer/5")]
        assert await group.commit(end)
        sys.stdout.write(f"closed {run_id}\n")
        sys.stdout.flush()


async def main(path: Path, name: str) -> None:
    store = SqliteStore(path)
    await store.open()
    group = GroupCommit(store)
    await asyncio.gather(*(keep_writing(group, f"{name}-{writer}") for writer in range(8)))


asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))

"""Deleting runs, in transactions of bounded size, so that commits get in between."""

import json
import sqlite3
from collections.abc import Iterator, Sequence

from towline.store.sqlite import statements as sql
from towline.store.sqlite.commit import transaction

# What one transaction deletes: at most so many runs, and no further run once it has so many events.
STEP_RUNS = 100
STEP_EVENTS = 5_000

Deletable = tuple[int, str, int]  # seq, run id, events


def find_closed(connection: sqlite3.Connection, run_ids: Sequence[str]) -> list[Deletable]:
    """Those of the runs that are stored and closed, which they then stay."""
    found = sql.FIND_CLOSED_RUNS.select(connection, [(run_id,) for run_id in run_ids])
    return [(seq, run_id, events) for (array,) in found for seq, run_id, events in json.loads(array)]


def steps(runs: Sequence[Deletable]) -> Iterator[list[Deletable]]:
    """The runs in portions for one transaction each."""
    step: list[Deletable] = []
    step_events = 0
    for run in runs:
        step.append(run)
        step_events += run[2]
        if len(step) >= STEP_RUNS or step_events >= STEP_EVENTS:
            yield step
            step, step_events = [], 0
    if step:
        yield step


def delete(connection: sqlite3.Connection, runs: Sequence[Deletable]) -> None:
    """Delete closed runs with all that belongs to them, in one transaction."""
    seqs = [(seq,) for seq, _, _ in runs]
    run_ids = [(run_id,) for _, run_id, _ in runs]
    with transaction(connection):
        sql.DELETE_HISTORIES.execute(connection, seqs)
        sql.DELETE_TASKS_OF_RUNS.execute(connection, run_ids)
        sql.DELETE_TIMERS_OF_RUNS.execute(connection, run_ids)
        sql.DELETE_RUNS.execute(connection, seqs)

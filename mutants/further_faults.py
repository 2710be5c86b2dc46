"""Faults that the design does not number: other places of its pitfalls, and what went wrong in other systems."""

from typing import Final

from mutants.mutant import Edit, Mutant

FURTHER_FAULTS: Final = (
    Mutant(
        name="x01",
        pitfall=7,
        fault="a workflow's result may have any size",
        file="src/towline/core/execution.py",
        edits=(
            Edit(
                """\
    what = f"workflow result of {draft.state.workflow_id}"
    check_payloads(command.result, what, advice="store it elsewhere and return its path")
""",
                "",
            ),
        ),
        tests=("test_activity_payload_limits",),
    ),
    Mutant(
        name="x02",
        pitfall=2,
        fault="a lease that ran out counts until the task is delivered again",
        file="src/towline/core/lease.py",
        edits=(Edit("    if not live(row, draft.now_ms):\n        raise lost(row)\n", ""),),
        tests=("test_a_lease_that_ran_out",),
    ),
    Mutant(
        name="x03",
        pitfall=9,
        fault="a report is dropped if the server is away",
        file="src/towline/worker/reports.py",
        edits=(
            Edit(
                "    if status in TRANSIENT:\n        return _Verdict.AGAIN\n",
                "    if status in TRANSIENT:\n        return _Verdict.DROP\n",
            ),
        ),
        tests=("test_worker_reconnects_after_server_restart",),
    ),
    Mutant(
        name="x04",
        pitfall=0,
        fault="a draining worker keeps a task that it will never run",
        file="src/towline/worker/poller.py",
        edits=(Edit("            await self._release(response)\n", ""),),
        tests=("test_tasks_that_arrive_at_the_stop_are_run_or_handed_back",),
    ),
    Mutant(
        name="x05",
        pitfall=0,
        fault="heartbeat details that the throttle held back are lost when the attempt fails",
        file="src/towline/worker/activities.py",
        edits=(Edit("last_heartbeat_details=unsent,", "last_heartbeat_details=None,"),),
        tests=("test_unsent_details_go_along_with_the_failure",),
    ),
    Mutant(
        name="x06",
        pitfall=0,
        fault="a task that is offered between the look into the store and the wait is missed",
        file="src/towline/server/matching.py",
        edits=(
            Edit("        queue.more_in_store = False\n        try:\n", "        try:\n"),
            Edit(
                "            raise\n        for hint in hints:\n",
                "            raise\n        queue.more_in_store = False\n        for hint in hints:\n",
            ),
        ),
        tests=("test_trigger_between_look_and_wait_wakes_the_poll",),
    ),
    Mutant(
        name="x07",
        pitfall=0,
        fault="a lease whose poll was cancelled meanwhile is not given back",
        file="src/towline/server/engine.py",
        edits=(
            Edit(
                """\
            if not asked.answer():
                for lease in asked.leases():
                    self.give_back(lease.row)
""",
                """\
            asked.answer()
""",
            ),
        ),
        tests=("test_cancelled_poll_gives_its_lease_back",),
    ),
    Mutant(
        name="x08",
        pitfall=0,
        fault="a commit whose compare-and-set matched nothing is taken for done",
        file="src/towline/server/engine.py",
        edits=(
            Edit(
                """\
        if not await self._group.commit(batch):
            self._conflict(live, turn)
            return
""",
                """\
        await self._group.commit(batch)
""",
            ),
        ),
        tests=("test_two_servers_take_the_same_stale_row_once",),
    ),
    Mutant(
        name="x09",
        pitfall=0,
        fault="a report is refused on what this server remembers of a run, though another one took it further",
        file="src/towline/server/turn.py",
        edits=(Edit("sure = fresh or self.work.run is None", "sure = True"),),
        tests=("test_a_report_to_the_other_server_is_accepted_once",),
    ),
    Mutant(
        name="x10",
        pitfall=0,
        fault="callers are answered before the commit",
        file="src/towline/server/engine.py",
        edits=(
            Edit("        blob = turn.work.blob()\n", "        blob = turn.work.blob()\n        self._answer(turn)\n"),
            Edit("        self._answer(turn, tuple(live.blobs) if live.blobs is not None else None)\n", ""),
        ),
        tests=("test_store_that_fails_changes_nothing",),
    ),
)

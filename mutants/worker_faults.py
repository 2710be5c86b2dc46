"""Faults of the worker: s15 to s25."""

from typing import Final

from mutants.mutant import Edit, Mutant

WORKER_FAULTS: Final = (
    Mutant(
        name="s15",
        pitfall=9,
        fault="the wait before the next try doubles for ever",
        file="src/towline/worker/reconnect.py",
        edits=(Edit("return maximum if maximum / initial <= factor else initial * factor", "return factor * initial"),),
        tests=("test_reconnect_delay_schedule",),
    ),
    Mutant(
        name="s16",
        pitfall=4,
        fault="the idempotency key that activities see is the activity id alone",
        file="src/towline/worker/attempt.py",
        edits=(Edit("idempotency_key=task.idempotency_key,", "idempotency_key=task.activity_id,"),),
        tests=("test_worker_runs_workflow_end_to_end",),
    ),
    Mutant(
        name="s17",
        pitfall=6,
        fault="the worker goes by its client's identity, not by its own",
        file="src/towline/worker/worker.py",
        edits=(Edit("identity=identity or client.identity,", "identity=client.identity,"),),
        tests=("test_worker_runs_workflow_end_to_end",),
    ),
    Mutant(
        name="s18",
        pitfall=7,
        fault="next_page_token is ignored: the workflow is replayed on the first page of its history",
        file="src/towline/worker/workflow_tasks.py",
        edits=(Edit("token = task.next_page_token\n", 'token = b""\n'),),
        tests=("test_worker_fetches_every_history_page",),
    ),
    Mutant(
        name="s19",
        pitfall=8,
        fault="there is one slot too many",
        file="src/towline/worker/slots.py",
        edits=(Edit("asyncio.Semaphore(count)", "asyncio.Semaphore(count + 1)"),),
        tests=("test_worker_bounded_concurrency",),
    ),
    Mutant(
        name="s20",
        pitfall=8,
        fault="the poller polls first, and takes a slot for what it was given",
        file="src/towline/worker/poller.py",
        edits=(
            Edit(
                """\
            self._idle = True
            await self._lane.slots.take()
            self._idle = False
            started = False
            try:
                started = await self._poll_once()
            finally:
                if not started:
                    self._lane.slots.give_back()
""",
                """\
            await self._poll_once()
            self._idle = False
""",
            ),
            Edit(
                "        self._lane.start(response)\n",
                "        await self._lane.slots.take()\n        self._lane.start(response)\n",
            ),
        ),
        tests=("test_worker_bounded_concurrency",),
    ),
    Mutant(
        name="s21",
        pitfall=10,
        fault="activities are cancelled together with the worker's run",
        file="src/towline/worker/drain.py",
        edits=(
            Edit(
                "        self.draining.set()\n",
                '        self.draining.set()\n        self._cancel_activities(WorkerShutdown("the worker stops"))\n',
            ),
        ),
        tests=("test_worker_drains_on_cancel",),
    ),
    Mutant(
        name="s22",
        pitfall=10,
        fault="run returns before the running activities finish",
        file="src/towline/worker/drain.py",
        edits=(
            Edit(
                "            await self._finish_work([work for lane in lanes for work in lane.under_way])\n",
                "",
            ),
        ),
        tests=("test_worker_drains_on_cancel",),
    ),
    Mutant(
        name="s23",
        pitfall=11,
        fault="nobody watches the heartbeat time-out on the worker's clock",
        file="src/towline/worker/heartbeats.py",
        edits=(
            Edit(
                "self._watchdog = self._link.clock.call_later(self._timeout_ms, self._time_out)",
                "self._watchdog = None",
            ),
        ),
        tests=("test_missed_heartbeat_cancels_activity",),
    ),
    Mutant(
        name="s24",
        pitfall=11,
        fault="an attempt that missed its heartbeat reports what came out of it",
        file="src/towline/worker/activities.py",
        edits=(
            Edit(
                """\
        if attempt.lease_gone:
            self._link.logger.warning("activity not reported", **_fields(task), reason=str(attempt.cancel_cause()))
        else:
            await self._report(task, outcome, unsent, deadline_ms=deadline_ms)
""",
                """\
        await self._report(task, outcome, unsent, deadline_ms=deadline_ms)
""",
            ),
        ),
        tests=("test_missed_heartbeat_cancels_activity",),
    ),
    Mutant(
        name="s25",
        pitfall=9,
        fault="a poller gives up after one failed poll",
        file="src/towline/worker/poller.py",
        edits=(Edit("self._failures += 1\n", "self._failures += 1\n            self._stopping = True\n"),),
        tests=("test_worker_reconnects_after_server_restart",),
    ),
)

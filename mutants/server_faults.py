"""Faults of the server: the task protocol (s01 to s10) and sizes (s12 to s14)."""

from typing import Final

from mutants.mutant import Edit, Mutant

SERVER_FAULTS: Final = (
    Mutant(
        name="s01",
        pitfall=1,
        fault="the poll is answered, but its WorkflowTaskStarted and its lease are not committed",
        file="src/towline/server/engine.py",
        edits=(
            Edit(
                """\
            if work.empty():
                self._answer(turn)
""",
                """\
            if work.empty() or all(isinstance(asked.request, DeliverTask) for asked in turn.asked):
                self._answer(turn)
                live.forget()
""",
            ),
        ),
        tests=("test_task_protocol_hand_example",),
    ),
    Mutant(
        name="s02",
        pitfall=4,
        fault="the idempotency key is made of the run id",
        file="src/towline/server/lease.py",
        edits=(
            Edit(
                'idempotency_key=f"{state.workflow_id}/{activity.activity_id}"',
                'idempotency_key=f"{state.run_id}/{activity.activity_id}"',
            ),
        ),
        tests=("test_task_protocol_hand_example",),
    ),
    Mutant(
        name="s03",
        pitfall=6,
        fault="ActivityTaskScheduled names the event before the WorkflowTaskCompleted that it came with",
        file="src/towline/core/activity_schedule.py",
        edits=(
            Edit(
                "workflow_task_completed_event_id=completed_event_id,",
                "workflow_task_completed_event_id=draft.state.last_event_id,",
            ),
        ),
        tests=("test_task_protocol_hand_example",),
    ),
    Mutant(
        name="s04",
        pitfall=2,
        fault="a workflow task is completed without fencing: neither its lease nor its T is compared",
        file="src/towline/core/workflow_task_report.py",
        edits=(
            Edit(
                """\
    row = lease.held(draft, token)
    if pending_for(draft, row) is None or row.started_event_id != token.started_event_id:
""",
                """\
    row = draft.run.tasks.get(token.task_id) or lease.held(draft, token)
    if pending_for(draft, row) is None:
""",
            ),
        ),
        tests=("test_complete_workflow_task_fenced",),
    ),
    Mutant(
        name="s05",
        pitfall=6,
        fault="WorkflowTaskCompleted names the first WorkflowTaskStarted of its task, not the latest",
        file="src/towline/core/workflow_task_report.py",
        edits=(
            Edit(
                "started_event_id=row.started_event_id, identity=message.identity",
                "started_event_id=row.scheduled_event_id + 1, identity=message.identity",
            ),
        ),
        tests=("test_complete_workflow_task_fenced",),
    ),
    Mutant(
        name="s06",
        pitfall=6,
        fault="ActivityTaskStarted always says attempt 1",
        file="src/towline/core/activity.py",
        edits=(Edit("attempt=row.attempt,", "attempt=1,"),),
        tests=("test_stale_activity_lease_drops_result",),
    ),
    Mutant(
        name="s07",
        pitfall=2,
        fault="an activity is completed without fencing: its lease is not compared",
        file="src/towline/core/activity_report.py",
        edits=(
            Edit(
                """\
    row = lease.held(draft, token)
    pending = draft.state.activities.get(row.scheduled_event_id)
    if pending is None or lease_token != row.lease_token:
""",
                """\
    row = draft.run.tasks.get(token.task_id) or lease.held(draft, token)
    pending = draft.state.activities.get(row.scheduled_event_id)
    if pending is None:
""",
            ),
        ),
        tests=("test_stale_activity_lease_drops_result",),
    ),
    Mutant(
        name="s09",
        pitfall=3,
        fault="a task on the queue is delivered although history says that it is over",
        file="src/towline/core/workflow_task_lease.py",
        edits=(
            Edit(
                """\
    pending = pending_for(draft, row)
    if pending is None:
        draft.ack(row)
        return Stale()
    attempt, details = row.attempt, lease.details(row)
""",
                """\
    pending = pending_for(draft, row) or WorkflowTask(
        row.scheduled_event_id, draft.state.task_queue, draft.state.workflow_task_timeout_ms, row.attempt
    )
    attempt, details = row.attempt, lease.details(row)
""",
            ),
        ),
        tests=("test_stale_queue_task_skipped",),
    ),
    Mutant(
        name="s10",
        pitfall=5,
        fault="a completion without commands is taken for nothing to do",
        file="src/towline/core/workflow_task_report.py",
        edits=(
            Edit(
                "    commands = command.read(message.commands)\n",
                "    commands = command.read(message.commands)\n    if not commands:\n        return Done()\n",
            ),
        ),
        tests=("test_trigger_while_workflow_task_in_flight",),
    ),
    Mutant(
        name="s12",
        pitfall=7,
        fault="the first page of history is as large as a message may be",
        file="src/towline/limits.py",
        edits=(Edit("FIRST_PAGE_SIZE_BYTES: Final = 1 * MIB", "FIRST_PAGE_SIZE_BYTES: Final = MESSAGE_SIZE_BYTES"),),
        tests=("test_first_page_within_one_mib",),
    ),
    Mutant(
        name="s13",
        pitfall=7,
        fault="an activity's input may have any size",
        file="src/towline/core/activity_schedule.py",
        edits=(
            Edit(
                '    check_payloads(command.input, f"activity input of {of}", '
                'advice="store it elsewhere and pass its path")\n',
                "",
            ),
        ),
        tests=("test_activity_payload_limits",),
    ),
    Mutant(
        name="s14",
        pitfall=7,
        fault="an activity's result may have any size",
        file="src/towline/core/activity_report.py",
        edits=(
            Edit(
                """\
    what = f"activity result of {_name(draft, pending)}"
    check_payloads(message.result, what, advice="store it elsewhere and return its path")
""",
                "",
            ),
        ),
        tests=("test_activity_payload_limits",),
    ),
)

"""What a workflow can ask about itself: the same in every replay."""

import logging
from datetime import UTC, datetime, timedelta

import pytest

from tests.runtime.histories import START_MS, STEP_MS, Run
from towline import workflow


@workflow.defn(name="Looks")
async def looks() -> list[object]:
    seen: list[object] = [workflow.now(), workflow.time(), workflow.history_length()]
    await workflow.execute_activity("wait", start_to_close_timeout=timedelta(seconds=1))
    return [*seen, workflow.now(), workflow.history_length(), workflow.is_continue_as_new_suggested()]


def test_time_is_that_of_the_task_that_ran_the_code() -> None:
    run = Run(looks)
    run.step()
    run.complete("1")
    run.step()
    first, second = START_MS + 3 * STEP_MS, START_MS + 9 * STEP_MS
    assert run.result() == [_iso(first), first / 1000, 3, _iso(second), 9, False]


def _iso(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, UTC).isoformat().replace("+00:00", "Z")


@workflow.defn(name="Info")
async def tells_info() -> workflow.Info:
    return workflow.info()


def test_info_is_what_the_first_event_says() -> None:
    run = Run(tells_info)
    run.step()
    assert run.result() == {
        "namespace": "default",
        "workflow_id": "demo-1",
        "run_id": "run-1",
        "first_execution_run_id": "run-1",
        "workflow_type": "Info",
        "task_queue": "q",
        "start_time": _iso(START_MS + STEP_MS),
    }


@workflow.defn
async def rolls() -> list[object]:
    return [workflow.random().randint(1, 10**9), str(workflow.uuid4()), workflow.random().random()]


def test_randomness_is_the_same_in_every_replay_and_differs_between_runs() -> None:
    first, again, other = Run(rolls), Run(rolls), Run(rolls)
    other.history.events[0].workflow_execution_started.run_id = "run-2"
    for run in (first, again, other):
        run.step()
    assert first.result() == again.result()
    assert not set(map(str, first.result())) & set(map(str, other.result()))


@workflow.defn
async def logs() -> bool:
    before = workflow.is_replaying()
    workflow.logger.warning("before", extra={"step": 1})
    await workflow.execute_activity("wait", start_to_close_timeout=timedelta(seconds=1))
    workflow.logger.warning("after")
    return before and not workflow.is_replaying()


def test_the_logger_is_quiet_while_the_workflow_replays(caplog: pytest.LogCaptureFixture) -> None:
    run = Run(logs)
    run.step()
    (record,) = caplog.records
    told = vars(record)
    assert (record.message, told["workflow_id"], told["run_id"], told["workflow_type"], told["step"]) == (
        "before",
        "demo-1",
        "run-1",
        "logs",
        1,
    )
    run.complete("1")
    run.step()
    assert [record.message for record in caplog.records] == ["before", "after"]
    assert run.result() is True


def test_the_logger_works_outside_of_workflows(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        workflow.logger.info("plain")
    assert [record.message for record in caplog.records] == ["plain"]


@pytest.mark.parametrize("ask", [workflow.info, workflow.now, workflow.random, workflow.uuid4, workflow.is_replaying])
def test_outside_of_a_workflow_it_says_so(ask: object) -> None:
    assert callable(ask)
    with pytest.raises(workflow.NotInWorkflow, match=r"was called outside of a workflow"):
        ask()

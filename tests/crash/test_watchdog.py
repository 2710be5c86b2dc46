"""What hangs is ended, and told of."""

import asyncio
from pathlib import Path

import pytest

from crash.part import Part, PartFault
from crash.progress import Progress
from crash.watchdog import Stuck, Watchdog, explain
from crash.work import Job, Work
from examples.ingest.model import IngestRequest
from tests.wire.fake_services import FakeServices, serving
from towline.api.common_pb2 import WORKFLOW_EXECUTION_STATUS_RUNNING, WorkflowExecution
from towline.api.workflow_service_pb2 import (
    DescribeWorkflowResponse,
    PendingActivityInfo,
    PendingWorkflowTaskInfo,
    WorkflowExecutionInfo,
)
from towline.client import Client
from towline.clock import SystemClock


def part_of(tmp_path: Path) -> Part:
    return Part("server", ["server"], ready_line=b"", log=tmp_path / "log", clock=SystemClock())


async def test_nothing_closes_any_more(tmp_path: Path) -> None:
    progress = Progress(3)
    await progress.start_one()
    watchdog = Watchdog([part_of(tmp_path)], progress, patience_s=0)
    with pytest.raises(Stuck, match="no workflow closed for 0 s: 1 of 3 were started, 0 have closed"):
        await watchdog.guard(asyncio.Event().wait())


async def test_work_that_ends_is_left_alone(tmp_path: Path) -> None:
    progress = Progress(3)
    watchdog = Watchdog([part_of(tmp_path)], progress, patience_s=60)
    await watchdog.guard(progress.start_one())
    assert progress.started == 1


async def test_a_part_that_ended_by_itself_ends_the_work(tmp_path: Path) -> None:
    part = part_of(tmp_path)
    part.fault.set_exception(PartFault("the server ended by itself"))
    with pytest.raises(PartFault, match="by itself"):
        await Watchdog([part], Progress(3), patience_s=60).guard(asyncio.Event().wait())


async def test_the_report_describes_what_is_open(tmp_path: Path) -> None:
    services = FakeServices()

    async def describe(_request: object, _caller: object) -> DescribeWorkflowResponse:
        return DescribeWorkflowResponse(
            info=WorkflowExecutionInfo(
                execution=WorkflowExecution(workflow_id="w-1", run_id="r-1"),
                status=WORKFLOW_EXECUTION_STATUS_RUNNING,
                history_length=9,
            ),
            pending_activities=[
                PendingActivityInfo(activity_id="3", activity_type="read_file", attempt=4, started=True)
            ],
            pending_workflow_task=PendingWorkflowTaskInfo(attempt=2),
        )

    services.handlers["DescribeWorkflow"] = describe
    (tmp_path / "log").write_text("out of luck\n")
    async with serving(services) as target, await Client.connect(target) as client:
        jobs = [Job(f"w-{number}", IngestRequest("in", "out"), []) for number in range(1, 13)]
        report = await explain(Work(client, jobs, Progress(12)), client, [part_of(tmp_path)])
    assert "12 workflows have not closed" in report
    assert "w-1 run r-1: RUNNING, 9 events" in report
    assert "workflow task: attempt 2, waits" in report
    assert "activity 3 read_file: attempt 4, started at nobody" in report
    assert "and 2 more" in report
    assert "the server was never started; the end of its log:\n    out of luck" in report

"""What an open run waits for, as it stands in a terminal."""

from io import StringIO

from rich.console import Console

from tests.cli import sample_history
from tests.cli.sample_history import START_MS, application_failure, payloads
from towline.api.workflow_service_pb2 import (
    DescribeWorkflowResponse,
    PendingActivityInfo,
    PendingWorkflowTaskInfo,
)
from towline.cli.pending_view import pending


def shown(description: DescribeWorkflowResponse) -> list[str]:
    console = Console(file=StringIO(), width=60, highlight=False)
    console.print(pending(description, now_ms=START_MS, width=console.width))
    assert isinstance(console.file, StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_everything_that_can_be_pending() -> None:
    failure = application_failure("connection reset", type="ConnectionError")
    description = DescribeWorkflowResponse(
        info=sample_history.info(),
        pending_workflow_task=PendingWorkflowTaskInfo(
            attempt=3, next_attempt_time_ms=START_MS + 4_000, last_failure=application_failure("bug", type="KeyError")
        ),
        pending_activities=[
            PendingActivityInfo(
                activity_id="1",
                activity_type="ingest_file",
                attempt=2,
                started=True,
                last_failure=failure,
                heartbeat_details=payloads({"position": 1_000, "text": "x" * 1_000}),
                last_worker_identity="worker-1@host",
            ),
            PendingActivityInfo(activity_id="2", activity_type="upper", attempt=1),
        ],
    )
    assert shown(description) == [
        "history: 17 events, 4.2 KiB",
        "workflow task  waits 4 s until attempt 3",
        "  last failure: KeyError: bug",
        "ingest_file (1)  running, attempt 2  worker-1@host",
        '  heartbeat: {"position":1000,"text":"xxxxxxxxxxxxxxxxxxxxx…',
        "  last failure: ConnectionError: connection reset",
        "upper (2)  waits for a worker",
    ]


def test_nothing() -> None:
    assert shown(DescribeWorkflowResponse(info=sample_history.info()))[1:] == ["nothing is pending"]

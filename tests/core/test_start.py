"""May a workflow be started under an id that was used before?"""

import pytest

from towline.api import common_pb2 as common
from towline.api.workflow_service_pb2 import StartWorkflowRequest
from towline.core.refusal import Refused
from towline.core.start import NewestRun, StartAnew, UseExisting, judge_start
from towline.status import Status

OPEN = common.WORKFLOW_EXECUTION_STATUS_RUNNING
CLOSED = common.WORKFLOW_EXECUTION_STATUS_COMPLETED


@pytest.mark.parametrize(
    ("newest", "request_id", "verdict"),
    [
        (None, "", StartAnew("")),
        (None, "a", StartAnew("")),
        (NewestRun("run-1", CLOSED, ""), "", StartAnew("run-1")),
        (NewestRun("run-1", CLOSED, "a"), "b", StartAnew("run-1")),
        (NewestRun("run-1", CLOSED, "a"), "a", UseExisting("run-1")),
        (NewestRun("run-1", OPEN, "a"), "a", UseExisting("run-1")),
    ],
)
def test_it_may(newest: NewestRun | None, request_id: str, verdict: StartAnew | UseExisting) -> None:
    assert judge_start(newest, StartWorkflowRequest(workflow_id="demo-1", request_id=request_id)) == verdict


@pytest.mark.parametrize(("started_by", "request_id"), [("a", "b"), ("a", ""), ("", "")])
def test_it_may_not_while_another_requests_run_is_open(started_by: str, request_id: str) -> None:
    with pytest.raises(Refused, match="run-1") as caught:
        judge_start(
            NewestRun("run-1", OPEN, started_by), StartWorkflowRequest(workflow_id="demo-1", request_id=request_id)
        )
    assert caught.value.status == Status.ALREADY_EXISTS

"""May a workflow be started under an id that was used before?"""

from dataclasses import dataclass

from towline.api.common_pb2 import WORKFLOW_EXECUTION_STATUS_RUNNING
from towline.api.workflow_service_pb2 import StartWorkflowRequest
from towline.core.refusal import Refused
from towline.status import Status


@dataclass(frozen=True, slots=True)
class NewestRun:
    """What is known of the newest run of the workflow id."""

    run_id: str
    status: int  # WorkflowExecutionStatus
    start_request_id: str


@dataclass(frozen=True, slots=True)
class StartAnew:
    """Start a run. It takes the place of `replaces` ("": the id is new) as the newest run."""

    replaces: str


@dataclass(frozen=True, slots=True)
class UseExisting:
    """The same request started this run before."""

    run_id: str


def judge_start(newest: NewestRun | None, request: StartWorkflowRequest) -> StartAnew | UseExisting:
    """What a start leads to, given the newest run. Raises Refused (ALREADY_EXISTS) where that one is still open."""
    if newest is None:
        return StartAnew("")
    if request.request_id and request.request_id == newest.start_request_id:
        return UseExisting(newest.run_id)
    if newest.status == WORKFLOW_EXECUTION_STATUS_RUNNING:
        raise Refused(
            Status.ALREADY_EXISTS,
            f"workflow {request.workflow_id!r} is already running as run {newest.run_id}: "
            "wait for it to close, terminate it, or choose another id",
        )
    return StartAnew(newest.run_id)

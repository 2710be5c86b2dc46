"""Reading runs from the server, in the contract's own messages: a command shows what is there, as it is there."""

from towline.api.common_pb2 import WorkflowExecution
from towline.api.workflow_service_pb2 import (
    DescribeWorkflowRequest,
    DescribeWorkflowResponse,
    ListWorkflowsRequest,
    WorkflowExecutionInfo,
    WorkflowFilter,
)
from towline.client import Client
from towline.rpc import WORKFLOW_METHODS

_PAGE_SIZE = 1_000


async def describe(client: Client, execution: WorkflowExecution) -> DescribeWorkflowResponse:
    """Where the run stands. Raises RpcError."""
    request = DescribeWorkflowRequest(namespace=client.namespace, execution=execution)
    response: DescribeWorkflowResponse = await client.caller.call(WORKFLOW_METHODS["DescribeWorkflow"], request)
    return response


async def runs(client: Client, wanted: WorkflowFilter, *, limit: int) -> list[WorkflowExecutionInfo]:
    """The newest `limit` runs that match. Raises RpcError."""
    found: list[WorkflowExecutionInfo] = []
    request = ListWorkflowsRequest(namespace=client.namespace, filter=wanted)
    while len(found) < limit:
        request.page_size = min(_PAGE_SIZE, limit - len(found))
        page = await client.caller.call(WORKFLOW_METHODS["ListWorkflows"], request)
        found.extend(page.executions)
        if not page.next_page_token:
            break
        request.next_page_token = page.next_page_token
    return found

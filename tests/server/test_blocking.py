"""The server never waits for a file, a socket or a lock on its event loop."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
from blockbuster import BlockingError, blockbuster_ctx

from tests.server.protocol import NAMESPACE, QUEUE, complete, payloads, schedule
from towline.api.common_pb2 import WorkflowExecution
from towline.api.task_service_pb2 import CompleteActivityTaskRequest, CompleteWorkflowTaskRequest, PollRequest
from towline.api.workflow_service_pb2 import (
    DescribeWorkflowRequest,
    GetHistoryRequest,
    ListWorkflowsRequest,
    StartWorkflowRequest,
)
from towline.client.transport.local import LocalTransport
from towline.rpc import METHODS
from towline.server.app import Server
from towline.server.settings import Settings
from towline.store.api import Store
from towline.store.sqlite.store import SqliteStore

ENGINE = ["towline.server", "towline.store", "towline.core"]


@pytest.fixture
def no_collection() -> Iterator[None]:
    """What other tests left to the garbage collector, gRPC's channels among it, must not be let go of in here."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_collection")
async def test_nothing_blocks_the_loop_in_the_life_of_a_run(tmp_path: Path) -> None:
    with blockbuster_ctx(ENGINE):
        server = Server(Settings(), store=SqliteStore(tmp_path / "towline.db"))
        await server.start()
        assert await _live_through(LocalTransport(server.services)) == 11
        await server.stop()


async def test_the_check_finds_what_blocks(tmp_path: Path) -> None:
    def pick_blocking_store(path: Path) -> Store:
        (path / "file").write_text("waits for the disk")
        return SqliteStore(path / "towline.db")

    with blockbuster_ctx(["tests.server.test_blocking"]), pytest.raises(BlockingError):
        pick_blocking_store(tmp_path)


async def _live_through(transport: LocalTransport) -> int:
    """The worked example, then every way to look at it; gives the number of its events."""
    poll = PollRequest(namespace=NAMESPACE, task_queue=QUEUE)
    start = StartWorkflowRequest(
        namespace=NAMESPACE, workflow_id="w", workflow_type="Echo", task_queue=QUEUE, input=payloads()
    )
    await transport.call(METHODS["StartWorkflow"], start)
    for commands in ([schedule("1")], [complete()]):
        task = await transport.call(METHODS["PollWorkflowTask"], poll)
        report = CompleteWorkflowTaskRequest(task_token=task.task_token, commands=commands)
        await transport.call(METHODS["CompleteWorkflowTask"], report)
        if commands[0].HasField("schedule_activity"):
            activity = await transport.call(METHODS["PollActivityTask"], poll)
            result = CompleteActivityTaskRequest(
                task_token=activity.task_token, lease_token=activity.lease_token, result=payloads()
            )
            await transport.call(METHODS["CompleteActivityTask"], result)
    execution = WorkflowExecution(workflow_id="w")
    page = await transport.call(METHODS["GetHistory"], GetHistoryRequest(namespace=NAMESPACE, execution=execution))
    described = await transport.call(
        METHODS["DescribeWorkflow"], DescribeWorkflowRequest(namespace=NAMESPACE, execution=execution)
    )
    assert described.info.history_length == len(page.history.events)
    listed = await transport.call(METHODS["ListWorkflows"], ListWorkflowsRequest(namespace=NAMESPACE))
    assert len(listed.executions) == 1
    return len(page.history.events)

"""A store that cannot write: the same answer on every wire, with the real services behind it."""

from collections.abc import Sequence

import pytest

from tests.client.transports import KINDS, connected
from towline.api.workflow_service_pb2 import StartWorkflowRequest
from towline.client.transport.api import RpcError
from towline.rpc import METHODS
from towline.server.app import Server
from towline.server.settings import Settings
from towline.status import Status
from towline.store.api import Batch, StoreError
from towline.store.memory import MemoryStore
from towline.testing.clock import FakeClock
from towline.testing.ids import SequenceIds


class FullStore(MemoryStore):
    async def commit(self, batches: Sequence[Batch]) -> list[bool]:
        raise StoreError("app.db: the disk is full: make room")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_store_that_fails_is_unavailable(kind: str) -> None:
    server = Server(Settings(), store=FullStore(), clock=FakeClock(1_000_000), ids=SequenceIds("run"))
    await server.start()
    async with connected(kind, server.services) as connection:
        request = StartWorkflowRequest(namespace="default", workflow_id="w", workflow_type="E", task_queue="q")
        with pytest.raises(RpcError, match="the disk is full: make room") as failed:
            await connection.call(METHODS["StartWorkflow"], request)
    await server.stop()
    assert failed.value.status is Status.UNAVAILABLE

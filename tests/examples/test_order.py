"""The order example on a real server."""

from collections.abc import AsyncIterator

import pytest

from examples.order.app import Order, OrderRequest, pack, worker
from tests.examples.fake_activity import WorkerDied, in_activity
from towline.client import Client


@pytest.fixture
async def working(client: Client) -> AsyncIterator[None]:
    """A worker of the orders."""
    async with worker.worker(client):
        yield


@pytest.mark.usefixtures("working")
async def test_an_order_waits_for_its_approval_and_is_packed(client: Client) -> None:
    request = OrderRequest("chair", 3, card="4111")
    handle = await client.start_workflow(Order, request, id="order-1", task_queue="order")
    await handle.signal(Order.approve, "ann")
    assert await handle.result() == "3 x chair for ann, receipt of order-1/1"


@pytest.mark.usefixtures("working")
async def test_a_card_that_is_declined_is_tried_once_and_fails_nothing(client: Client) -> None:
    request = OrderRequest("chair", 3, card="0000")
    handle = await client.start_workflow(Order, request, id="order-1", task_queue="order")
    await handle.signal(Order.approve, "ann")
    assert await handle.result() == "not sold: card 0000 is declined"
    history = await handle.fetch_history()
    attempts = [
        event.activity_task_started.attempt for event in history.events if event.HasField("activity_task_started")
    ]
    assert attempts == [1]


def test_packing_goes_on_from_the_last_heartbeat() -> None:
    request = OrderRequest("chair", 3, card="4111")
    with in_activity("run/2", dies_at_heartbeat=2) as first, pytest.raises(WorkerDied):
        pack(request)
    with in_activity("run/2", heartbeat_details=(first.heartbeats[-1],)) as second:
        assert pack(request) == 3
    assert (first.heartbeats, second.heartbeats) == ([1, 2], [3])

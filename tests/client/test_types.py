"""What type checkers know of a workflow that is started. mypy is the one that runs these."""

from typing import Any, assert_type

import pytest

from tests.client.fake_server import FakeServer, completed, page
from tests.client.transports import connected
from tests.client.workflows import Labels, Order, Receipt, Sweep, buy, echo
from towline.api.workflow_service_pb2 import StartWorkflowRequest
from towline.client import Client, WorkflowHandle


async def test_results_have_the_types_of_their_workflows() -> None:
    receipt = completed({"order": "o", "pieces": 1})
    server = FakeServer(page(completed("HI")), page(receipt), page(receipt), page(receipt), page(completed(7)))
    async with connected("local", server) as connection:
        client = Client(connection)
        text = assert_type(await client.execute_workflow(echo, "hi", id="1", task_queue="q"), str)
        one = assert_type(await client.execute_workflow(buy, "o", id="2", task_queue="q"), Receipt)
        two = assert_type(await client.execute_workflow(buy, "o", 2, id="3", task_queue="q"), Receipt)
        three = assert_type(await client.execute_workflow(Order, "o", id="4", task_queue="q"), Receipt)
        four = assert_type(await client.execute_workflow("X", id="5", task_queue="q", result_type=int), int)
    assert (text, one, two, three, four) == ("HI", *[Receipt("o", 1)] * 3, 7)


async def test_wrong_arguments_are_type_errors() -> None:
    server = FakeServer(page(completed(7)))
    async with connected("local", server) as connection:
        client = Client(connection)
        await client.start_workflow(echo, 3, id="1", task_queue="q")  # type: ignore[arg-type]
        await client.start_workflow(Order, 3, id="1", task_queue="q")  # type: ignore[arg-type]
        await client.start_workflow(Order.run, 3, id="1", task_queue="q")  # type: ignore[arg-type]
        await client.start_workflow(Labels, "o", "100", id="1", task_queue="q")  # type: ignore[call-arg,arg-type]
        await client.execute_workflow(Sweep.run, "7", id="1", task_queue="q")  # type: ignore[arg-type]
        await client.start_workflow(echo, id="1", task_queue="q")  # type: ignore[call-arg,arg-type]
        await client.start_workflow(Order.run, id="1", task_queue="q")  # type: ignore[call-arg,arg-type]
        with pytest.raises(TypeError, match="task_queue"):
            await client.start_workflow(echo, "hi", id="1")  # type: ignore[call-overload]
        await client.get_workflow_handle("w").signal(Order.cancel, 3)  # type: ignore[arg-type]
    assert len(server.requests) == 9


async def test_a_class_may_be_named_by_its_run_method() -> None:
    receipt = completed({"order": "o", "pieces": 1})
    server = FakeServer(page(receipt), page(receipt), page(completed(7)))
    async with connected("local", server) as connection:
        client = Client(connection)
        started = await client.start_workflow(Order.run, "o", id="1", task_queue="q")
        assert_type(started, WorkflowHandle[Receipt])
        one = assert_type(await client.execute_workflow(Order.run, "o", id="2", task_queue="q"), Receipt)
        two = assert_type(await client.execute_workflow(Labels.run, "o", id="3", task_queue="q"), Receipt)
        three = assert_type(await client.execute_workflow(Sweep.run, id="4", task_queue="q"), int)
    assert (one, two, three) == (Receipt("o", 1), Receipt("o", 1), 7)
    types = [request.workflow_type for request in server.requests if isinstance(request, StartWorkflowRequest)]
    assert types == ["Order", "Order", "Labels", "Sweep"]


async def test_arguments_with_defaults_may_be_left_out() -> None:
    receipt = completed({"order": "o", "pieces": 1})
    server = FakeServer(page(receipt), page(receipt), page(completed(7)), page(completed(8)))
    async with connected("local", server) as connection:
        client = Client(connection)
        one = assert_type(await client.execute_workflow(Labels, "o", id="1", task_queue="q"), Receipt)
        two = assert_type(await client.execute_workflow(Labels, "o", 50, id="2", task_queue="q"), Receipt)
        three = assert_type(await client.execute_workflow(Sweep, id="3", task_queue="q"), int)
        four = assert_type(await client.execute_workflow(Sweep, 8, id="4", task_queue="q"), int)
    assert (one, two, three, four) == (Receipt("o", 1), Receipt("o", 1), 7, 8)


async def test_handles_have_the_types_of_their_workflows() -> None:
    async with connected("local", FakeServer()) as connection:
        client = Client(connection)
        started = assert_type(await client.start_workflow(echo, "hi", id="1", task_queue="q"), WorkflowHandle[str])
        named = assert_type(await client.start_workflow("X", 1, id="1", task_queue="q"), WorkflowHandle[Any])
        found = assert_type(client.get_workflow_handle("w", result_type=Receipt), WorkflowHandle[Receipt])
    assert [handle.id for handle in (started, named, found)] == ["1", "1", "w"]

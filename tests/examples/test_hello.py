"""The hand example on a real server."""

from examples.hello.app import echo, upper, worker
from towline.client import Client


async def test_hello(client: Client) -> None:
    async with worker.worker(client):
        assert await client.execute_workflow(echo, "hi", id="demo-1", task_queue=worker.task_queue) == "HI"
    history = await client.get_workflow_handle("demo-1").fetch_history()
    assert len(history.events) == 11


async def test_an_activity_is_a_function_too() -> None:
    assert await upper("hi") == "HI"

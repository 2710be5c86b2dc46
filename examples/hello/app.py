"""The smallest Towline app: a workflow with one step.

towline dev examples/hello/app.py
towline start Echo --task-queue hello --id demo-1 --input '"hi"' --wait
"""

from datetime import timedelta

from towline import activity, workflow
from towline.worker import WorkerConfig


@activity.defn(name="Upper", start_to_close_timeout=timedelta(seconds=10))
async def upper(text: str) -> str:
    """A step: it touches the world, so it may fail, and is then tried again."""
    return text.upper()


@workflow.defn(name="Echo")
async def echo(text: str) -> str:
    """The steps in order. Each is recorded, so that after a crash the workflow goes on from where it was."""
    return await upper(text)


worker = WorkerConfig(task_queue="hello", workflows=[echo], activities=[upper])

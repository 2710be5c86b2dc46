"""The workflows that are measured, and their worker."""

from datetime import timedelta
from typing import Final

from towline import activity, workflow
from towline.worker import WorkerConfig

TASK_QUEUE: Final = "bench"
STEPS: Final = 10
# Enough that the worker is never short of tasks: each poll brings one.
POLLS: Final = 60


@activity.defn(start_to_close_timeout=timedelta(seconds=60))
async def upper(text: str) -> str:
    """The smallest activity that does something."""
    return text.upper()


@activity.defn(start_to_close_timeout=timedelta(seconds=60))
async def increment(number: int) -> int:
    """One step of a sequence."""
    return number + 1


@workflow.defn
async def noop(number: int) -> int:
    """No activity at all: what a workflow costs by itself."""
    return number


@workflow.defn
async def echo(text: str) -> str:
    """One activity."""
    return await upper(text)


@workflow.defn
async def sequence(number: int) -> int:
    """Ten activities, one after another."""
    for _ in range(STEPS):
        number = await increment(number)
    return number


worker = WorkerConfig(
    task_queue=TASK_QUEUE,
    workflows=[noop, echo, sequence],
    activities=[upper, increment],
    max_concurrent_workflow_task_polls=POLLS,
    max_concurrent_activity_task_polls=POLLS,
)

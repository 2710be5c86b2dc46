"""How a run that failed is told, on a real worker."""

from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from tests.cli.conftest import Towline
from towline import activity, workflow
from towline.client import Client
from towline.worker import Worker


@activity.defn(start_to_close_timeout=timedelta(seconds=60), retry_policy=activity.RetryPolicy(maximum_attempts=1))
async def boom() -> None:
    try:
        raise KeyError("k")
    except KeyError as error:
        raise RuntimeError("outer boom") from error


@workflow.defn(name="Boom")
async def boom_workflow() -> None:
    await boom()


@pytest.mark.parametrize("command", ["start", "result"])
async def test_every_cause_is_told_once(address: str, towline: Towline, command: str) -> None:
    async with await Client.connect(address) as client:
        with capture_logs() as logs:  # the worker's, which runs in this process
            async with Worker(client, task_queue="q", workflows=[boom_workflow], activities=[boom]):
                ran = await towline("start", "Boom", "--task-queue", "q", "--id", "b", "--wait")
        assert [entry["reason"] for entry in logs] == ["RuntimeError: outer boom"]
        if command == "result":
            ran = await towline("result", "b")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.splitlines()[-1] == (
        "error: b failed: activity boom (1) failed, caused by RuntimeError: outer boom, caused by KeyError: 'k': "
        "`towline show b` tells its history"
    )

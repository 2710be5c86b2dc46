"""A worker's configuration says what a Worker takes."""

import inspect
from dataclasses import fields

import pytest

from towline.cli.errors import CliError
from towline.cli.worker import make_worker
from towline.client import Client
from towline.worker import Worker, WorkerConfig

# What only code that makes its own Worker can have.
NOT_CONFIGURED = {"self", "client", "run_workflows_inline", "clock", "logger", "failpoint"}


def test_names_and_defaults_are_those_of_a_worker() -> None:
    parameters = inspect.signature(Worker.__init__).parameters
    config = inspect.signature(WorkerConfig).parameters
    assert {name: config[name].default for name in config} == {
        name: parameter.default for name, parameter in parameters.items() if name not in NOT_CONFIGURED
    }
    assert [field.name for field in fields(WorkerConfig)] == list(config)


async def test_a_configuration_that_cannot_run_is_told(address: str) -> None:
    async with await Client.connect(address) as client:
        with pytest.raises(CliError, match=r"the worker of task queue q cannot run: .*nothing to run"):
            make_worker(WorkerConfig(task_queue="q"), client)
        with pytest.raises(CliError, match="max_concurrent_activities is 0: it must be 1 or more"):
            make_worker(WorkerConfig(task_queue="q", max_concurrent_activities=0), client)

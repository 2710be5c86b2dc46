"""What `from towline import …` gives."""

import subprocess
import sys

import pytest

import towline
import towline.client
import towline.worker
from towline import exceptions, workflow
from towline.workflow.absent import INSTEAD


def test_the_main_names_are_there() -> None:
    assert towline.Client is towline.client.Client
    assert towline.Worker is towline.worker.Worker
    assert {towline.ApplicationError.__name__, towline.RetryPolicy.__name__} == {"ApplicationError", "RetryPolicy"}


def test_every_name_can_be_found_and_is_there() -> None:
    names = {
        "ApplicationError",
        "Client",
        "RetryPolicy",
        "Worker",
        "WorkerConfig",
        "activity",
        "exceptions",
        "workflow",
    }
    assert set(towline.__all__) == names
    assert set(dir(towline)) == names
    assert towline.WorkerConfig is towline.worker.WorkerConfig
    for name in names:
        assert getattr(towline, name).__name__.rpartition(".")[2] == name


def test_the_errors_are_named() -> None:
    own = {name for name, value in vars(exceptions).items() if getattr(value, "__module__", "") == exceptions.__name__}
    assert set(exceptions.__all__) == {name for name in own if not name.startswith("_")}


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'towline' has no attribute 'Wroker'"):
        getattr(towline, "Wroker")  # noqa: B009


def test_workflow_code_does_not_load_the_worker_or_grpc() -> None:
    script = "import sys; from towline import activity, workflow; print({'grpc', 'towline.worker'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


@pytest.mark.parametrize("name", ["sleep", "wait_condition", "execute_child_workflow", "continue_as_new", "query"])
def test_what_a_workflow_cannot_do_yet_says_so(name: str) -> None:
    with pytest.raises(AttributeError, match=f"workflow.{name} is not in this version: ."):
        getattr(workflow, name)
    assert not hasattr(workflow, name)


def test_names_that_workflows_have_are_not_said_to_be_absent() -> None:
    assert set(workflow.__all__).isdisjoint(INSTEAD)
    with pytest.raises(AttributeError, match=r"module 'towline\.workflow' has no attribute 'slep'"):
        getattr(workflow, "slep")  # noqa: B009

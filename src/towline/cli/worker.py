"""`towline worker`: run a worker until it is told to stop."""

from rich.console import Console
from rich.text import Text

from towline.cli.errors import CliError
from towline.cli.loading import load_worker
from towline.cli.logs import Level, configure_logs
from towline.cli.process_signals import on_stop_signal
from towline.cli.target import LOCAL, Target, connected
from towline.cli.text import one_line
from towline.client import Client
from towline.worker import Worker, WorkerConfig
from towline.workflow import definition_of


async def worker(place: str, /, *, log_level: Level = "info", target: Target = LOCAL) -> None:
    """Run a worker until SIGTERM or Ctrl-C.

    The first one drains: no further task is taken, running activities finish. The second one cancels them.

    Parameters
    ----------
    place
        Where the worker's WorkerConfig is: module:name, module, or app.py.
    log_level
        How much to log.
    """
    configure_logs(log_level)
    config = load_worker(place)
    async with connected(target) as client:
        running = make_worker(config, client)
        Console(highlight=False).print(_line(config, target), soft_wrap=True)
        with on_stop_signal(lambda count: _stop(running, count)):
            await running.run()


def make_worker(config: WorkerConfig, client: Client) -> Worker:
    """The worker, not yet running. Raises CliError for a configuration that makes no sense."""
    try:
        return config.worker(client)
    except (TypeError, ValueError) as error:
        raise CliError(f"the worker of task queue {config.task_queue} cannot run: {error}") from error


def _stop(worker: Worker, count: int) -> None:
    worker.shutdown()
    if count == 1:
        line = Text("worker stops: running activities may finish; once more to cancel them", style="dim")
        Console(stderr=True, highlight=False).print(line, soft_wrap=True)


def _line(config: WorkerConfig, target: Target) -> Text:
    workflows = ", ".join(definition_of(workflow).name for workflow in config.workflows) or "none"
    activities = ", ".join(getattr(activity, "name", str(activity)) for activity in config.activities) or "none"
    return Text.assemble(
        "worker on ",
        (one_line(config.task_queue), "bold green"),
        f" at {target.target}",
        (f"  workflows: {workflows}  activities: {activities}", "dim"),
    )

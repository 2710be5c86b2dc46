"""`towline worker`: run a worker until it is told to stop."""

import asyncio

from rich.console import Console
from rich.text import Text

from towline.cli.loading import load_worker
from towline.cli.logs import Level, configure_logs
from towline.cli.process_signals import on_stop_signal
from towline.cli.target import LOCAL, Target, connected
from towline.cli.text import one_line
from towline.worker import Worker, WorkerConfig


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
        running = config.worker(client)
        Console(highlight=False).print(_line(config, target), soft_wrap=True)
        await run_until_stopped(running)


async def run_until_stopped(worker: Worker) -> None:
    """Run the worker; stop signals drain it, then cancel it."""
    running = asyncio.ensure_future(worker.run())

    def stop(count: int) -> None:
        if count == 1:
            worker.shutdown()
        else:
            running.cancel()

    with on_stop_signal(stop):
        await running


def _line(config: WorkerConfig, target: Target) -> Text:
    workflows = ", ".join(config.workflow_names()) or "none"
    activities = ", ".join(config.activity_names()) or "none"
    return Text.assemble(
        "worker on ",
        (one_line(config.task_queue), "bold green"),
        f" at {target.target}",
        (f"  workflows: {workflows}  activities: {activities}", "dim"),
    )

"""`script/crash --workflows 300 --kills 60`: run, kill, judge."""

import asyncio
import signal
import sys
import tempfile
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from cyclopts.validators import Number

from crash.options import Options
from crash.part import PartFault
from crash.run import Outcome, run
from crash.watchdog import Stuck
from towline.clock import SystemClock
from towline.exceptions import TowlineError

Positive = Annotated[int, Parameter(validator=Number(gte=1))]
_FAULTS_SHOWN = 50
app = App(name="crash", help="Kill the server and its workers while workflows run; none may be lost, none run twice.")


@app.default
def main(
    *,
    workflows: Positive = 300,
    kills: Annotated[int, Parameter(validator=Number(gte=0))] = 60,
    workers: Positive = 3,
    seed: int = 1,
    patience_s: Annotated[float, Parameter(validator=Number(gt=0))] = 90,
) -> int:
    """Run workflows, kill processes, judge. Ends with 0 only if everything is as it must be.

    Parameters
    ----------
    workflows
        How many workflows must survive.
    kills
        How many times a process is killed meanwhile.
    workers
        How many worker processes there are.
    seed
        Decides who is killed when, and what the files are.
    patience_s
        Give up, and say what hangs, when no workflow has closed for so many seconds.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that it leaves no process behind
    options = Options(workflows=workflows, kills=kills, workers=workers, seed=seed, patience_s=patience_s)
    with tempfile.TemporaryDirectory(prefix="towline-crash-") as folder:
        try:
            outcome = asyncio.run(run(options, Path(folder), clock=SystemClock()))
        except (Stuck, PartFault, TowlineError) as error:
            return _failed(str(error))
    return report(options, outcome)


def report(options: Options, outcome: Outcome) -> int:
    """Print what came of it, the counts last. Gives the exit status."""
    verdict, kills, attempts = outcome.verdict, outcome.kills, outcome.attempts
    for fault in verdict.faults[:_FAULTS_SHOWN]:
        print(fault)
    if len(verdict.faults) > _FAULTS_SHOWN:
        print(f"and {len(verdict.faults) - _FAULTS_SHOWN} more faults")
    print(
        f"seed {options.seed}, {outcome.elapsed_ms / 1000:.1f} s; kills: {kills.of_server} of the server, "
        f"{kills.total - kills.of_server} of workers; {kills.at_once} two at once, {kills.starting} during a start-up"
    )
    print(
        f"{len({attempt.key for attempt in attempts})} activities took {len(attempts)} attempts, of which "
        f"{sum(attempt.resumed for attempt in attempts)} went on from a heartbeat; "
        f"the client gave up {outcome.client_gave_up} times, workers {outcome.worker_gave_up} times"
    )
    print(
        f"{verdict.completed} completed, {verdict.lost} lost, {verdict.duplicated} duplicated, {kills.total} kills",
        flush=True,
    )
    right = not verdict.faults and verdict.completed == options.workflows and kills.total == options.kills
    return 0 if right else 1


def _failed(message: str) -> int:
    print(f"script/crash: {message}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(app())

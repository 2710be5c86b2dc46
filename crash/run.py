"""One test from start to end."""

import asyncio
import random
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from crash.attempts import Attempt
from crash.judge import judge, judge_store
from crash.killer import Killer, Kills
from crash.options import Options
from crash.part import Part
from crash.plan import make_plan
from crash.port import free_port
from crash.processes import abandon, database, make_parts, start, stop
from crash.progress import Progress
from crash.verdict import Verdict
from crash.watchdog import Stuck, Watchdog, explain
from crash.work import Work, make_job
from towline.client import Client
from towline.clock import Clock

_JUDGE_TIMEOUT_S: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of it."""

    verdict: Verdict
    kills: Kills
    attempts: Sequence[Attempt]
    worker_gave_up: int  # how often a worker ended since it found no server
    client_gave_up: int  # how often a call had to be made again after the client had given up
    elapsed_ms: int


async def run(options: Options, folder: Path, *, clock: Clock) -> Outcome:
    """Start everything, let it work while it is killed, judge, stop everything, judge what is left in the file.

    Raises Stuck and PartFault, each with a report, and TowlineError for what no kill explains.
    """
    began_ms = clock.now_ms()
    randomness = random.Random(options.seed)
    jobs = [make_job(number, folder, randomness) for number in range(1, options.workflows + 1)]
    target = f"127.0.0.1:{free_port(random.Random())}"
    parts = make_parts(options, folder, target, clock=clock)
    progress = Progress(len(jobs))
    killer = make_killer(options, parts, progress, randomness=randomness, clock=clock)
    verdict = Verdict([job.workflow_id for job in jobs])
    try:
        await start(parts)
        async with await Client.connect(target) as client:
            work = Work(client, jobs, progress)
            await work_while_killed(options, work, killer, parts, client=client)
            attempts = await _judged(verdict, work, client)
        await stop(parts)
    finally:
        await abandon(parts)
    await judge_store(verdict, database(folder))
    return Outcome(
        verdict=verdict,
        kills=killer.kills,
        attempts=attempts,
        worker_gave_up=sum(part.gave_up for part in parts),
        client_gave_up=work.client_gave_up,
        elapsed_ms=clock.now_ms() - began_ms,
    )


def make_killer(
    options: Options, parts: Sequence[Part], progress: Progress, *, randomness: random.Random, clock: Clock
) -> Killer:
    """The killer with its plan."""
    plan = make_plan(
        options.kills,
        workflows=options.workflows,
        at_once=options.at_once,
        workers=options.workers,
        randomness=randomness,
    )
    return Killer(parts, plan, progress=progress, at_once=options.at_once, clock=clock)


async def work_while_killed(
    options: Options, work: Work, killer: Killer, parts: Sequence[Part], *, client: Client
) -> None:
    """The work and the killing, to the end of both. Raises PartFault, TowlineError, and Stuck with what is not done."""
    watchdog = Watchdog(parts, work.progress, patience_s=options.patience_s)
    try:
        await watchdog.guard(_both(work.run(options.at_once), killer.run()))
    except Stuck as stuck:
        raise Stuck(f"{stuck}\n{await explain(work, client, parts)}") from None


async def _both(working: Coroutine[Any, Any, None], killing: Coroutine[Any, Any, None]) -> None:
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(working)
            group.create_task(killing)
    except BaseExceptionGroup as errors:
        first: BaseException = errors
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None


async def _judged(verdict: Verdict, work: Work, client: Client) -> list[Attempt]:
    try:
        return await asyncio.wait_for(judge(verdict, work.jobs, work.results, client), _JUDGE_TIMEOUT_S)
    except TimeoutError:
        raise Stuck(f"the histories could not be read within {_JUDGE_TIMEOUT_S} s") from None

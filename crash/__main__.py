"""python -m crash: run, kill, judge."""

import argparse
import asyncio
import random
import socket
import sys
import tempfile
from pathlib import Path
from typing import Final

from crash.killer import Killer
from crash.part import Part
from crash.verdict import Verdict, judge, judge_store
from crash.work import Work, make_job
from towline.client import Client

_AT_ONCE: Final = 40
_STUCK_AFTER_S: Final = 120
_LOOK_INTERVAL_S: Final = 1.0


class Stuck(Exception):
    """Nothing moves any more, or a part ended that nobody killed."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/crash", description=__doc__)
    parser.add_argument("--workflows", type=int, default=300, help="how many workflows must survive")
    parser.add_argument("--kills", type=int, default=60, help="how many processes are killed meanwhile")
    parser.add_argument("--workers", type=int, default=3, help="how many worker processes there are")
    parser.add_argument("--seed", type=int, default=1, help="decides who is killed, and roughly when")
    return parser.parse_args()


def free_port() -> int:
    """A port that nobody listens on: the server must come back to the same one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def make_parts(folder: Path, target: str, workers: int) -> tuple[Part, list[Part]]:
    """The server on a SQLite file, and its workers."""
    database = str(folder / "crash.db")
    server = ["server", "--db", database, "--address", target, "--log-level", "warning"]
    worker = ["worker", "crash.app", "--target", target, "--log-level", "error"]
    return Part("server", server, log=folder / "server.log"), [
        Part(f"worker {number}", worker, log=folder / f"worker-{number}.log") for number in range(1, workers + 1)
    ]


async def watch(work: Work, parts: list[Part]) -> None:
    """Raises Stuck when no workflow ends for too long, or when a part ends that was not killed."""
    done, looks = 0, 0
    while True:
        await asyncio.sleep(_LOOK_INTERVAL_S)
        looks = looks + 1 if len(work.results) == done else 0
        done = len(work.results)
        for part in parts:
            if (last_words := part.died()) is not None:
                raise Stuck(last_words)
        if looks * _LOOK_INTERVAL_S > _STUCK_AFTER_S:
            raise Stuck(f"no workflow ended for {_STUCK_AFTER_S} s, {done} of {len(work.jobs)} did before")


async def while_killed(work: Work, killer: Killer, parts: list[Part]) -> None:
    """The work and the killing, to the end of both."""
    watching = asyncio.ensure_future(watch(work, parts))
    both = asyncio.ensure_future(_both(work, killer))
    try:
        await asyncio.wait([both, watching], return_when=asyncio.FIRST_COMPLETED)
        if watching.done():
            watching.result()
        await both
    finally:
        both.cancel()
        watching.cancel()
        await asyncio.gather(both, watching, return_exceptions=True)


async def _both(work: Work, killer: Killer) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(work.run(_AT_ONCE))
        group.create_task(killer.run(work.progress, work.moved))


async def explain(work: Work, client: Client) -> None:
    """What the workflows that are open wait for."""
    for job in [job for job in work.jobs if job.workflow_id not in work.results][:10]:
        try:
            async with asyncio.timeout(5):
                print(await client.get_workflow_handle(job.workflow_id).describe())
        except Exception as error:  # the report goes on, whatever is wrong with one of them
            print(f"{job.workflow_id}: {error!r}")


async def run(options: argparse.Namespace, folder: Path) -> tuple[Verdict, int]:
    """The whole test; gives the verdict and how many processes were killed."""
    randomness = random.Random(options.seed)
    jobs = [make_job(number, folder, randomness) for number in range(1, options.workflows + 1)]
    target = f"127.0.0.1:{free_port()}"
    server, workers = make_parts(folder, target, options.workers)
    killer = Killer(server, workers, kills=options.kills, randomness=randomness)
    parts = [server, *workers]
    try:
        for part in parts:
            await part.start()
        async with await Client.connect(target) as client:
            work = Work(client, jobs)
            try:
                await while_killed(work, killer, parts)
            except Stuck:
                await explain(work, client)
                raise
            verdict, run_ids = await judge(work, client)
    finally:
        for part in reversed(parts):
            await part.stop()
    await judge_store(verdict, folder / "crash.db", run_ids)
    return verdict, killer.done


def main() -> int:
    """Exit status: 0 only if nothing was lost and nothing happened twice."""
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="towline-crash-") as name:
        try:
            verdict, kills = asyncio.run(run(options, Path(name)))
        except Stuck as stuck:
            print(f"script/crash: {stuck}", file=sys.stderr)
            return 1
    for fault in verdict.faults:
        print(fault)
    print(f"{verdict.completed} completed, {verdict.lost} lost, {verdict.duplicated} duplicated, {kills} kills")
    return 0 if not verdict.faults and verdict.completed == options.workflows and kills == options.kills else 1


if __name__ == "__main__":
    sys.exit(main())

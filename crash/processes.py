"""The server and the workers of one test."""

import asyncio
from pathlib import Path

from crash.options import Options
from crash.part import Part
from towline.clock import Clock


def make_parts(options: Options, folder: Path, target: str, *, clock: Clock) -> list[Part]:
    """The server, on a SQLite file in the folder, then its workers; none runs yet."""
    server = Part(
        "server",
        ["server", "--db", str(database(folder)), "--address", target, "--log-level", "warning"],
        ready_line=b"Towline server on ",
        log=folder / "server.log",
        clock=clock,
    )
    workers = [
        Part(
            f"worker {number}",
            ["worker", "crash.app", "--target", target, "--log-level", "error"],
            ready_line=b"worker on ",
            log=folder / f"worker-{number}.log",
            clock=clock,
        )
        for number in range(1, options.workers + 1)
    ]
    return [server, *workers]


def database(folder: Path) -> Path:
    """The server's file."""
    return folder / "crash.db"


async def start(parts: list[Part]) -> None:
    """The server, and then all workers. Raises PartFault."""
    await parts[0].start_and_wait()
    await asyncio.gather(*(worker.start_and_wait() for worker in parts[1:]))


async def stop(parts: list[Part]) -> None:
    """All workers, and then the server, each as it should. Raises PartFault."""
    await asyncio.gather(*(worker.stop() for worker in parts[1:]))
    await parts[0].stop()


async def abandon(parts: list[Part]) -> None:
    """Whatever became of them: none is left running."""
    await asyncio.gather(*(part.abandon() for part in parts))

"""The killer keeps to the plan, and the work keeps to the killer."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from crash.killer import Killer
from crash.part import Part, PartFault
from crash.plan import Strike
from crash.progress import Progress
from towline.clock import SystemClock


@pytest.fixture
async def part(tmp_path: Path) -> AsyncIterator[Part]:
    """A process of ours that is up as soon as it has started, and stays: a server in memory."""
    arguments = ["server", "--in-memory", "--address", "127.0.0.1:0", "--log-level", "warning"]
    part = Part("server", arguments, ready_line=b"Towline server on ", log=tmp_path / "log", clock=SystemClock())
    yield part
    await part.abandon()


def pid_of(part: Part) -> int:
    return int(part.state().split()[1].strip(",)"))


def killer_of(part: Part, progress: Progress, *plan: Strike) -> Killer:
    return Killer([part], plan, progress=progress, at_once=2, clock=SystemClock())


async def test_a_kill_is_real_and_the_process_comes_back(part: Part) -> None:
    await part.start_and_wait()
    pid, progress = pid_of(part), Progress(5)
    await progress.start_one()
    killer = killer_of(part, progress, Strike(0, 0, (0,)))
    await killer.run()
    assert (killer.kills.total, killer.kills.of_server, killer.kills.starting) == (1, 1, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    await part.wait_until_ready()
    assert (part.lives, pid_of(part) != pid) == (2, True)
    await part.stop()


async def test_a_kill_during_the_start_up_is_counted_as_one(part: Part) -> None:
    await part.start()
    progress = Progress(5)
    await progress.start_one()
    killer = killer_of(part, progress, Strike(0, 0, (0,), again_at=0.0))
    await killer.run()
    assert (killer.kills.total, killer.kills.starting) == (2, 2)


async def test_no_kill_counts_once_everything_has_closed(part: Part) -> None:
    await part.start()
    progress = Progress(1)
    await progress.start_one()
    await progress.close_one()
    killer = killer_of(part, progress, Strike(0, 0, (0,)))
    await killer.run()
    assert (killer.kills.total, part.lives) == (0, 1)


async def test_the_work_waits_for_a_kill_that_is_due(part: Part) -> None:
    await part.start()
    progress = Progress(5)
    killing = asyncio.create_task(killer_of(part, progress, Strike(1, 0, (0,))).run())
    for _ in range(3):
        await progress.start_one()
    fourth = asyncio.create_task(progress.start_one())
    await asyncio.sleep(0)
    assert (progress.started, fourth.done()) == (3, False), "two ahead of the strike, which is due after the first"
    await progress.close_one()
    await killing
    await fourth
    assert (progress.started, part.lives) == (4, 2)


async def test_a_process_that_ends_by_itself_is_a_fault(part: Part) -> None:
    await part.start_and_wait()
    os.kill(pid_of(part), signal.SIGKILL)
    with pytest.raises(PartFault, match=r"the server ended by itself with status -9[\s\S]*Towline server on"):
        await part.fault


async def test_a_process_that_does_not_start_is_a_fault(tmp_path: Path) -> None:
    part = Part("server", ["no-such-command"], ready_line=b"never", log=tmp_path / "log", clock=SystemClock())
    with pytest.raises(PartFault, match="the server ended by itself with status 2"):
        await part.start_and_wait()
    await part.abandon()

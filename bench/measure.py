"""One measurement: start everything, warm up, measure, stop."""

import asyncio
import math
import os
import tempfile
import time
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Final

from bench.cases import Case
from bench.load import Load
from bench.processes import Child, running_server, running_worker
from bench.report import Result
from bench.usage import Usage, usage_of
from towline.client import Client

NS_PER_S: Final = 1_000_000_000
NS_PER_MS: Final = 1_000_000
MIB: Final = 1024 * 1024
WARM_UP_RUNS: Final = 200


async def measure(case: Case, *, count: int, concurrency: int, timeout_s: float) -> Result:
    """Run the case on a server and a worker of its own.

    Raises WrongResult, ProcessEnded, and TimeoutError if it is not over after `timeout_s`.
    """
    with tempfile.TemporaryDirectory(prefix="towline-bench-") as name:
        folder = Path(name)
        async with (
            running_server(folder) as (server, address),
            running_worker(folder, address) as worker,
            await Client.connect(address) as client,
            asyncio.timeout(timeout_s),
        ):
            work = _measured(Load(client, case), case, server, worker, count=count, concurrency=concurrency)
            return await _while_running(work, server, worker)


async def _measured(load: Load, case: Case, server: Child, worker: Child, *, count: int, concurrency: int) -> Result:
    await load.drive(max(concurrency, min(WARM_UP_RUNS, count)), concurrency)
    pids = (server.pid, worker.pid, os.getpid())
    before = [usage_of(pid) for pid in pids]
    began_ns = time.perf_counter_ns()
    durations_ns = sorted(await load.drive(count, concurrency))
    elapsed_ns = time.perf_counter_ns() - began_ns
    after = [usage_of(pid) for pid in pids]
    server_cpu_us, worker_cpu_us, client_cpu_us = _cpu_us_each(before, after, count)
    return Result(
        case=case.name,
        count=count,
        concurrency=concurrency,
        rate_per_s=round(count * NS_PER_S / elapsed_ns, 1),
        p50_ms=round(percentile(durations_ns, 50) / NS_PER_MS, 2),
        p99_ms=round(percentile(durations_ns, 99) / NS_PER_MS, 2),
        server_cpu_us=server_cpu_us,
        worker_cpu_us=worker_cpu_us,
        client_cpu_us=client_cpu_us,
        server_rss_mb=round(after[0].rss_bytes / MIB, 1),
        worker_rss_mb=round(after[1].rss_bytes / MIB, 1),
    )


def percentile(ordered: Sequence[int], percent: int) -> int:
    """The smallest value that this share of the values does not exceed. `ordered` is sorted and not empty."""
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def _cpu_us_each(before: Sequence[Usage], after: Sequence[Usage], count: int) -> list[int]:
    return [round((end.cpu_us - start.cpu_us) / count) for start, end in zip(before, after, strict=True)]


async def _while_running(work: Coroutine[None, None, Result], *children: Child) -> Result:
    """The work's result; if a child ends first, its ProcessEnded: no use to wait for a server that is gone."""
    working = asyncio.ensure_future(work)
    watching = [asyncio.ensure_future(child.watch()) for child in children]
    try:
        await asyncio.wait([working, *watching], return_when=asyncio.FIRST_COMPLETED)
        for watch in watching:
            if watch.done():
                watch.result()
        return await working
    finally:
        for task in (working, *watching):
            task.cancel()
        await asyncio.gather(working, *watching, return_exceptions=True)

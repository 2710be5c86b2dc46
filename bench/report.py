"""A measurement as people and as programs read it."""

import msgspec
from rich.console import Console
from rich.table import Table


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One measurement, units in the names. Processor time is per workflow; memory is what was held at the end."""

    case: str
    count: int
    concurrency: int
    rate_per_s: float
    p50_ms: float
    p99_ms: float
    server_cpu_us: int
    worker_cpu_us: int
    client_cpu_us: int
    server_rss_mb: float
    worker_rss_mb: float


def as_json(result: Result) -> str:
    """One object on one line."""
    return msgspec.json.encode(result).decode()


def print_table(result: Result) -> None:
    """A line for each number."""
    lines = (
        ("workflows", f"{result.count:,}, {result.concurrency} at a time"),
        ("rate", f"{result.rate_per_s:,.1f} /s"),
        ("from start to result", f"p50 {result.p50_ms:.2f} ms   p99 {result.p99_ms:.2f} ms"),
        ("processor, server", f"{result.server_cpu_us:,} µs per workflow"),
        ("processor, worker", f"{result.worker_cpu_us:,} µs per workflow"),
        ("processor, client", f"{result.client_cpu_us:,} µs per workflow"),
        ("memory, server", f"{result.server_rss_mb:.1f} MiB"),
        ("memory, worker", f"{result.worker_rss_mb:.1f} MiB"),
    )
    table = Table("", title=f"bench {result.case}", title_justify="left", show_header=False, box=None, padding=(0, 2))
    table.add_column()
    for line in lines:
        table.add_row(*line)
    Console(highlight=False).print(table)

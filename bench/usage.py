"""What a process has used of the machine, as Linux tells it."""

import os
from dataclasses import dataclass
from pathlib import Path

MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """`cpu_us`: processor time so far, user and system together, all threads. `rss_bytes`: memory held now."""

    cpu_us: int
    rss_bytes: int


def usage_of(pid: int) -> Usage:
    """Read it from /proc. Raises FileNotFoundError if there is no such process, or no /proc."""
    folder = Path("/proc") / str(pid)
    # The command's name, in parentheses, may hold blanks: what follows it is counted from field 3 on.
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])
    resident_pages = int((folder / "statm").read_text().split()[1])
    return Usage(ticks * MICROSECONDS // os.sysconf("SC_CLK_TCK"), resident_pages * os.sysconf("SC_PAGE_SIZE"))

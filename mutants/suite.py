"""Runs named tests on a copy of the source."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from mutants.recorder import RECORD_VARIABLE, STOPPED, Collected, Line, Phase, Source
from mutants.source_copy import SourceCopy

CASE_TIMEOUT_S: Final = 10
_PROCESS_TIMEOUT_S: Final = 90
_FINISHED: Final = (0, 1, STOPPED)  # pytest: all passed, some failed; and the recorder's own


class NotRun(Exception):
    """The tests could not be run, so they say nothing about the source. The message has pytest's output."""


@dataclass
class Results:
    """How the cases went; `failed` says why."""

    cases: list[str] = field(default_factory=list)
    passed: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)

    def left(self) -> list[str]:
        """The cases that were not run yet."""
        return [case for case in self.cases if case not in self.passed and case not in self.failed]


async def run(copy: SourceCopy, paths: Sequence[str], *, case_timeout_s: int = CASE_TIMEOUT_S) -> Results:
    """Run tests, each case of them, also after failures. Raises NotRun."""
    results = Results()
    wanted = list(paths)
    while wanted:
        lines, output = await _run_process(copy, wanted, case_timeout_s)
        before = len(results.left()) if results.cases else -1
        _take(results, lines, copy, output)
        wanted = results.left()
        if len(wanted) == before:
            raise NotRun(f"pytest ran none of {', '.join(wanted)}:\n{output}")
    return results


async def _run_process(copy: SourceCopy, paths: Sequence[str], case_timeout_s: int) -> tuple[list[Line], str]:
    record = copy.folder / "record.jsonl"
    record.unlink(missing_ok=True)
    options = ["-q", "-p", "mutants.recorder", "-p", "no:cacheprovider", f"--timeout={case_timeout_s}"]
    process = await asyncio.create_subprocess_exec(
        *[sys.executable, "-m", "pytest", *options, *paths],
        cwd=copy.folder,
        env=_environment(copy, record),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(_PROCESS_TIMEOUT_S):
            printed, _ = await process.communicate()
    except TimeoutError:
        raise NotRun(f"pytest did not end within {_PROCESS_TIMEOUT_S} s: {' '.join(paths)}") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    output = printed.decode(errors="replace")
    if process.returncode not in _FINISHED or not record.exists():
        raise NotRun(f"pytest ended with status {process.returncode}:\n{output}")
    return [msgspec.json.decode(line, type=Line) for line in record.read_bytes().splitlines()], output


def _environment(copy: SourceCopy, record: Path) -> Mapping[str, str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**environment, "PYTHONPATH": str(copy.folder / "src"), RECORD_VARIABLE: str(record)}


def _take(results: Results, lines: Sequence[Line], copy: SourceCopy, output: str) -> None:
    for line in lines:
        match line:
            case Source(path):
                if not Path(path).is_relative_to(copy.folder):
                    raise NotRun(f"the tests ran on {path}, not on the copy in {copy.folder}")
            case Collected(cases):
                results.cases = results.cases or cases
            case Phase(case, "call", failed, reason):
                if failed:
                    results.failed[case] = reason
                else:
                    results.passed.add(case)
            case Phase(case, "setup", True):
                raise NotRun(f"{case} failed before it began:\n{output}")

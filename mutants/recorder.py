"""A pytest plugin, for the runs on a copy: writes down, line by line, what was collected and how each case went.

A case that hangs is stopped by pytest-timeout. What it leaves behind could hang its fixtures too, beyond any time-out,
so the process ends there; the cases that are left are run by another one.
"""

import os
from pathlib import Path
from typing import Final

import msgspec
import pytest

import towline

RECORD_VARIABLE: Final = "MUTANTS_RECORD"
STOPPED: Final = 97  # the exit status after a case that hung


class Source(msgspec.Struct, tag=True):
    """Which source the tests ran on."""

    path: str


class Collected(msgspec.Struct, tag=True):
    """The cases that were found."""

    cases: list[str]


class Phase(msgspec.Struct, tag=True):
    """How a part of a case went. `when`: setup, call (the test itself) or teardown."""

    case: str
    when: str
    failed: bool
    reason: str


Line = Source | Collected | Phase


def _write(line: Line) -> None:
    with Path(os.environ[RECORD_VARIABLE]).open("ab") as record:
        record.write(msgspec.json.encode(line) + b"\n")


def pytest_collection_finish(session: pytest.Session) -> None:
    _write(Source(str(towline.__file__)))
    _write(Collected([item.nodeid for item in session.items]))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    crash = getattr(report.longrepr, "reprcrash", None)
    reason = crash.message if crash is not None else ""
    _write(Phase(report.nodeid, report.when or "", report.failed, reason))
    if report.when == "call" and report.failed and "from pytest-timeout" in report.longreprtext:
        os._exit(STOPPED)

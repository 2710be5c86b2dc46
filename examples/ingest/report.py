"""The report, for programs and for people."""

import os
from io import StringIO
from pathlib import Path
from typing import Final

import msgspec
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from examples.ingest.model import Report, Summary

JSON_NAME: Final = "report.json"
TEXT_NAME: Final = "report.txt"
_TEXT_WIDTH: Final = 120


def summarize(report: Report, output: Path) -> Summary:
    """The report's totals, and where it is."""
    return Summary(
        files=len(report.files),
        failures=len(report.failures),
        size_bytes=sum(file.size_bytes for file in report.files),
        lines=sum(file.lines for file in report.files),
        report_json=str(output / JSON_NAME),
        report_text=str(output / TEXT_NAME),
    )


def write_files(report: Report, output: Path) -> None:
    """Write both forms into the output folder. Doing it again changes nothing."""
    output.mkdir(parents=True, exist_ok=True)
    _replace(output / JSON_NAME, msgspec.json.format(msgspec.json.encode(report)) + b"\n")
    text = StringIO()
    Console(width=_TEXT_WIDTH, file=text).print(table(report, width=_TEXT_WIDTH))
    _replace(output / TEXT_NAME, text.getvalue().encode())


def table(report: Report, *, width: int) -> RenderableType:
    """The report for a terminal of that width: a row for each file, then what failed, then the totals."""
    files = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    files.add_column("file", overflow="fold")
    files.add_column("bytes", justify="right", no_wrap=True)
    files.add_column("lines", justify="right", no_wrap=True)
    files.add_column("sha-256", style="dim", no_wrap=True)
    digits = 64 if width >= _TEXT_WIDTH else 12
    for file in report.files:
        sha256 = file.sha256[:digits] + ("…" if digits < len(file.sha256) else "")
        files.add_row(Text(file.path), f"{file.size_bytes:,}", f"{file.lines:,}", sha256)
    failures = [Text(f"✗ {failure.path}  {failure.error}", style="red") for failure in report.failures]
    totals = Text(
        f"{len(report.files)} ingested, {len(report.failures)} failed: "
        f"{sum(file.size_bytes for file in report.files):,} bytes, {sum(file.lines for file in report.files):,} lines",
        style="bold",
    )
    return Group(files, *([Text(), *failures] if failures else []), Text(), totals)


def _replace(path: Path, content: bytes) -> None:
    unfinished = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    unfinished.write_bytes(content)
    unfinished.replace(path)

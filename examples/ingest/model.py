"""What travels between the workflow and its activities. All sizes are in bytes."""

from dataclasses import dataclass, field
from typing import Final

MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """What to ingest. Paths are absolute: they must mean the same to every worker."""

    folder: str
    output: str  # a folder that belongs to this workflow id alone
    chunk_bytes: int = MIB


@dataclass(frozen=True, slots=True)
class FileStats:
    """One file, ingested."""

    path: str  # relative to the folder
    size_bytes: int
    lines: int
    sha256: str  # what `sha256sum` prints


@dataclass(frozen=True, slots=True)
class FileFailure:
    """One file that could not be ingested, and why."""

    path: str  # relative to the folder
    error: str


@dataclass(frozen=True, slots=True)
class Report:
    """A whole folder."""

    folder: str
    files: list[FileStats] = field(default_factory=list)
    failures: list[FileFailure] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Summary:
    """What the workflow returns."""

    files: int
    failures: int
    size_bytes: int
    lines: int
    report_json: str
    report_text: str


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far the reading of one file has come. It travels with heartbeats."""

    path: str  # relative to the folder
    file_bytes: int
    position: int  # bytes that are done
    newlines: int  # among them
    sha256: str  # of them

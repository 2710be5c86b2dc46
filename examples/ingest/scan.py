"""Reading one text file in chunks, from the start or from a checkpoint."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from examples.ingest.model import Checkpoint, FileStats


class NotText(Exception):
    """The file is not a text file. Reading it again will not help."""


class Scan:
    """One reading of a file. `note` is told of every checkpoint, which is as often as once a chunk."""

    def __init__(self, path: str, file: BinaryIO, *, chunk_bytes: int, note: Callable[[Checkpoint], None]) -> None:
        self._path = path
        self._file = file
        self._file_bytes = os.fstat(file.fileno()).st_size
        self._chunk_bytes = chunk_bytes
        self._note = note
        self._start_over()

    def resume(self, checkpoint: Checkpoint) -> None:
        """Go on from the checkpoint; from the start, if the bytes before it are no longer what they were."""
        while self._position < checkpoint.position:
            chunk = self._file.read(min(self._chunk_bytes, checkpoint.position - self._position))
            if not chunk:
                break
            self._hash(chunk)
            self._note(checkpoint)  # still the newest one: a crash in here must not lose it
        if self._digest.hexdigest() != checkpoint.sha256:
            self._start_over()
            return
        self._newlines = checkpoint.newlines

    def finish(self) -> FileStats:
        """Read to the end. Raises NotText at the first zero byte."""
        self._note(self._checkpoint())
        while chunk := self._file.read(self._chunk_bytes):
            self._refuse_zero(chunk)
            self._hash(chunk)
            self._newlines += chunk.count(b"\n")
            self._note(self._checkpoint())
        unfinished_line = bool(self._last_byte) and self._last_byte != b"\n"
        return FileStats(self._path, self._position, self._newlines + unfinished_line, self._digest.hexdigest())

    def _start_over(self) -> None:
        self._file.seek(0)
        self._digest = hashlib.sha256()
        self._position = 0
        self._newlines = 0
        self._last_byte = b""

    def _hash(self, chunk: bytes) -> None:
        self._digest.update(chunk)
        self._position += len(chunk)
        self._last_byte = chunk[-1:]

    def _checkpoint(self) -> Checkpoint:
        return Checkpoint(self._path, self._file_bytes, self._position, self._newlines, self._digest.hexdigest())

    def _refuse_zero(self, chunk: bytes) -> None:
        zero = chunk.find(0)
        if zero >= 0:
            raise NotText(f"{self._path} is not text: byte {self._position + zero} is zero")


def scan(
    folder: Path, path: str, *, chunk_bytes: int, resume: Checkpoint | None, note: Callable[[Checkpoint], None]
) -> FileStats:
    """Read `folder / path`. Raises OSError where that fails, NotText where it is not a text file."""
    with (folder / path).open("rb") as file:
        reading = Scan(path, file, chunk_bytes=chunk_bytes, note=note)
        if resume is not None:
            reading.resume(resume)
        return reading.finish()

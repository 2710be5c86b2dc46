"""Reading a file in chunks, and again from a checkpoint."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.ingest.model import Checkpoint, FileStats
from examples.ingest.scan import NotText, scan

TEXT = b"".join(b"line %d\n" % number for number in range(100))


def read(
    folder: Path, *, chunk_bytes: int = 64, resume: Checkpoint | None = None
) -> tuple[FileStats, list[Checkpoint]]:
    notes: list[Checkpoint] = []
    stats = scan(folder, "a.txt", chunk_bytes=chunk_bytes, resume=resume, note=notes.append)
    return stats, notes


def lines_of(content: bytes) -> int:
    return len(content.removesuffix(b"\n").split(b"\n")) if content else 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_bytes(TEXT)
    return tmp_path


def test_a_whole_reading(folder: Path) -> None:
    stats, notes = read(folder)
    assert stats == FileStats("a.txt", len(TEXT), 100, hashlib.sha256(TEXT).hexdigest())
    assert [note.position for note in notes] == [*range(0, len(TEXT), 64), len(TEXT)]


@given(content=st.binary().map(lambda data: data.replace(b"\0", b"\n")), chunk_bytes=st.integers(1, 8))
def test_every_checkpoint_leads_to_the_same_end(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, chunk_bytes: int
) -> None:
    folder = tmp_path_factory.mktemp("scan")
    (folder / "a.txt").write_bytes(content)
    stats, notes = read(folder, chunk_bytes=chunk_bytes)
    assert stats.sha256 == hashlib.sha256(content).hexdigest()
    assert stats.lines == lines_of(content)
    for note in notes:
        assert read(folder, chunk_bytes=chunk_bytes, resume=note)[0] == stats


def test_lines_before_the_checkpoint_are_not_counted_again(folder: Path) -> None:
    _, notes = read(folder)
    middle = notes[5]
    told_otherwise = Checkpoint(middle.path, middle.file_bytes, middle.position, middle.newlines + 1000, middle.sha256)
    assert read(folder, resume=told_otherwise)[0].lines == 1100


def test_a_checkpoint_survives_a_crash_before_its_end_is_reached_again(folder: Path) -> None:
    _, notes = read(folder)
    middle = notes[5]
    _, notes_after = read(folder, resume=middle)
    assert notes_after[:5] == [middle] * 5
    assert min(note.position for note in notes_after) == middle.position


@pytest.mark.parametrize("content", [b"other" + TEXT[5:], TEXT[:100], b""])
def test_a_file_that_changed_is_begun_anew(folder: Path, content: bytes) -> None:
    checkpoint = read(folder)[1][5]
    (folder / "a.txt").write_bytes(content)
    stats, _ = read(folder, resume=checkpoint)
    assert stats == FileStats("a.txt", len(content), lines_of(content), hashlib.sha256(content).hexdigest())


@pytest.mark.parametrize(("content", "lines"), [(b"", 0), (b"\n", 1), (b"a", 1), (b"a\nb", 2), (b"a\nb\n", 2)])
def test_a_last_line_without_its_end_counts(tmp_path: Path, content: bytes, lines: int) -> None:
    (tmp_path / "a.txt").write_bytes(content)
    assert read(tmp_path)[0].lines == lines


def test_a_zero_byte_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"x" * 100 + b"\0")
    with pytest.raises(NotText, match=r"a\.txt is not text: byte 100 is zero"):
        read(tmp_path)

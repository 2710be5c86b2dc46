"""The activities of the ingest, each with its effect once, whatever crashes."""

import hashlib
from pathlib import Path

import msgspec
import pytest

from examples.ingest.activities import effects_of, ingest_file, list_files, write_report
from examples.ingest.model import FileFailure, FileStats, IngestRequest, Report
from tests.examples.fake_activity import WorkerDied, in_activity

TEXT = b"one\ntwo\n" * 50


@pytest.fixture
def request_(tmp_path: Path) -> IngestRequest:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_bytes(TEXT)
    return IngestRequest(str(folder), str(tmp_path / "out"), chunk_bytes=40)


def test_resumes_from_the_last_heartbeat(request_: IngestRequest) -> None:
    with in_activity("run/2", dies_at_heartbeat=6) as first, pytest.raises(WorkerDied):
        ingest_file(request_, "a.txt")
    assert first.heartbeats[-1].position == 200
    # As they come back from the server: plain JSON.
    details = (msgspec.to_builtins(first.heartbeats[-1]),)
    with in_activity("run/2", heartbeat_details=details) as second:
        stats = ingest_file(request_, "a.txt")
    assert stats == FileStats("a.txt", 400, 100, hashlib.sha256(TEXT).hexdigest())
    assert min(note.position for note in second.heartbeats) == 200
    assert effects_of(request_).keys() == ["run%2F2"]


def test_an_attempt_after_the_effect_changes_nothing(request_: IngestRequest) -> None:
    with in_activity("run/2"):
        stats = ingest_file(request_, "a.txt")
    (Path(request_.folder) / "a.txt").write_bytes(b"changed\n")
    with in_activity("run/2") as second:
        assert ingest_file(request_, "a.txt") == stats
    assert second.heartbeats == []


def test_the_list_stays_what_it_was(request_: IngestRequest) -> None:
    folder = Path(request_.folder)
    (folder / "sub").mkdir()
    (folder / "sub" / "b.txt").touch()
    (folder / ".hidden").touch()
    with in_activity("run/1"):
        assert list_files(request_) == ["a.txt", "sub/b.txt"]
    (folder / "c.txt").touch()
    with in_activity("run/1"):
        assert list_files(request_) == ["a.txt", "sub/b.txt"]


def test_the_output_is_no_input(request_: IngestRequest) -> None:
    inside = IngestRequest(request_.folder, str(Path(request_.folder) / "out"))
    Path(inside.output).mkdir()
    (Path(inside.output) / "report.txt").touch()
    with in_activity("run/1"):
        assert list_files(inside) == ["a.txt"]


def test_no_folder_is_told(request_: IngestRequest) -> None:
    with in_activity("run/1"), pytest.raises(FileNotFoundError, match="is no folder"):
        list_files(IngestRequest("/nowhere", request_.output))


def test_the_report_is_written_for_programs_and_people(request_: IngestRequest) -> None:
    files = [FileStats("a.txt", 12_345, 100, "abc"), FileStats("b.txt", 5, 1, "def")]
    report = Report(request_.folder, files=files, failures=[FileFailure("c.bin", "NotText: c.bin is not text")])
    with in_activity("run/3"):
        summary = write_report(request_, report)
    assert (summary.files, summary.failures, summary.size_bytes, summary.lines) == (2, 1, 12_350, 101)
    assert msgspec.json.decode(Path(summary.report_json).read_bytes(), type=Report) == report
    text = Path(summary.report_text).read_text()
    assert "12,345" in text
    assert "NotText: c.bin is not text" in text
    assert "2 ingested, 1 failed: 12,350 bytes, 101 lines" in text

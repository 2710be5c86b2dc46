"""The ingest from end to end, on a real server."""

import asyncio
import hashlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from examples.ingest.activities import effects_of
from examples.ingest.model import FileFailure, IngestRequest, Report, Summary
from examples.ingest.worker import TASK_QUEUE, worker
from examples.ingest.workflow import ingest
from towline.client import Client

FILES = {f"{number:02}.txt": b"line\n" * number for number in range(20)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twenty text files, and one that is none."""
    folder = tmp_path / "files"
    folder.mkdir()
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    (folder / "poisoned.bin").write_bytes(b"fine so far\n\0")
    return folder


def read_report(summary: Summary) -> Report:
    return msgspec.json.decode(Path(summary.report_json).read_bytes(), type=Report)


@pytest.fixture
async def working(client: Client) -> AsyncIterator[None]:
    """A worker of the ingest."""
    async with worker.worker(client):
        yield


@pytest.mark.usefixtures("working")
async def test_a_folder_with_a_poisoned_file(client: Client, folder: Path, tmp_path: Path) -> None:
    request = IngestRequest(str(folder), str(tmp_path / "out"), chunk_bytes=16)
    summary = await client.execute_workflow(ingest, request, id="i-1", task_queue=TASK_QUEUE)
    assert (summary.files, summary.failures, summary.lines) == (20, 1, sum(range(20)))
    report = read_report(summary)
    assert {file.path: file.sha256 for file in report.files} == {
        name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()
    }
    assert report.failures == [FileFailure("poisoned.bin", "NotText: poisoned.bin is not text: byte 12 is zero")]
    # The list, twenty files and the report; the poisoned file has no effect.
    poisoned = 2 + len(FILES)
    expected = {f"i-1%2F{number}" for number in range(1, len(FILES) + 4)} - {f"i-1%2F{poisoned}"}
    assert set(effects_of(request).keys()) == expected


async def run_ingest(*arguments: str) -> tuple[int, str, str]:
    """`python -m examples.ingest …`: its status, stdout and stderr."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "examples.ingest",
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


@pytest.mark.usefixtures("working")
async def test_the_command(address: str, folder: Path, tmp_path: Path) -> None:
    arguments = [str(folder), "--target", address, "--id", "i-1", "--output", str(tmp_path)]
    first = await run_ingest(*arguments)
    assert first[0] == 0, first[2]
    assert "20 ingested, 1 failed: 950 bytes, 190 lines" in first[1]
    assert "✗ poisoned.bin  NotText: poisoned.bin is not text: byte 12 is zero" in first[1]
    assert (tmp_path / "i-1" / "report.txt").is_file()
    # Joined again, it tells the same.
    assert (await run_ingest(*arguments))[:2] == first[:2]


@pytest.mark.usefixtures("working")
async def test_a_folder_that_is_not_there(address: str, tmp_path: Path) -> None:
    status, out, err = await run_ingest(str(tmp_path / "nowhere"), "--target", address, "--output", str(tmp_path))
    assert (status, out) == (1, "")
    assert "FileNotFoundError" in err
    assert err.count("\n") == 1

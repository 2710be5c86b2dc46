"""`towline server` as a process."""

import signal
import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Towline
from tests.cli.processes import towline_process
from towline.store.sqlite.migrations import APPLICATION_ID


async def test_serves_until_it_is_told_to_stop_and_loses_nothing(tmp_path: Path, towline: Towline) -> None:
    ready = tmp_path / "ready"
    for number in (signal.SIGTERM, signal.SIGINT):
        options = ["--db", "a.db", "--address", "127.0.0.1:0", "--ready-file", str(ready)]
        async with towline_process("server", *options, folder=tmp_path) as server:
            line = await server.line_with("Towline server on ")
            address = line.split()[3]
            assert ready.read_text() == f"{address}\n"
            id = number.name
            assert (await towline("start", "Echo", "--id", id, "--target", address)).status == 0
            server.send(number)
            assert await server.end() == 0
    async with towline_process("server", "--db", "a.db", "--address", "127.0.0.1:0", folder=tmp_path) as server:
        address = (await server.line_with("Towline server on ")).split()[3]
        rows = (await towline("list", "--target", address)).out.splitlines()[1:]
        assert sorted(row.split()[1] for row in rows) == ["SIGINT", "SIGTERM"]


def a_text_file(path: Path) -> None:
    path.write_text("this is no database, but long enough to look like one")


def a_newer_schema(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    database.execute("PRAGMA user_version = 999999")
    database.close()


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (a_text_file, {}, "is not an SQLite database"),
        (a_newer_schema, {}, "newer"),
        (Path.mkdir, {}, "cannot be opened"),
        (None, {"--db": "no/such/folder.db"}, "its folder does not exist"),
        (None, {"--address": "256.0.0.1:1"}, "cannot listen on 256.0.0.1:1"),
        (None, {"--ready-file": "no/such/file"}, "the ready file no/such/file cannot be written"),
    ],
)
async def test_what_it_cannot_work_with_is_told_in_one_line(
    tmp_path: Path, make: object, options: dict[str, str], message: str
) -> None:
    if callable(make):
        make(tmp_path / "a.db")
    usual = {"--db": "a.db", "--address": "127.0.0.1:0", "--log-level": "warning"}
    tokens = [token for option in (usual | options).items() for token in option]
    async with towline_process("server", *tokens, folder=tmp_path) as server:
        assert await server.end() == 1
    assert len(server.lines) == 1, server.lines
    assert server.lines[0].startswith("error: ")
    assert message in server.lines[0]


async def test_two_servers_on_one_address(tmp_path: Path) -> None:
    async with towline_process("server", "--db", "a.db", "--address", "127.0.0.1:0", folder=tmp_path) as first:
        address = (await first.line_with("Towline server on ")).split()[3]
        async with towline_process("server", "--db", "b.db", "--address", address, folder=tmp_path) as second:
            await second.line_with(f"error: cannot listen on {address}")
            assert await second.end() == 1

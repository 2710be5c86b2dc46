"""Files that cannot be opened, and disks that fill up: what is said, and what is left."""

import asyncio
import os
import resource
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from towline.store.api import StoreError, StoreUnusable
from towline.store.conformance.contents import contents
from towline.store.conformance.rows import more_events, new_run
from towline.store.sqlite.migrations import load_migrations
from towline.store.sqlite.store import SqliteStore

NOBODY = 65_534


def fault(path: Path) -> str:
    """What opening it says."""
    with pytest.raises(StoreUnusable) as raised:
        asyncio.run(SqliteStore(path).open())
    return str(raised.value)


async def make_store(path: Path) -> None:
    """An empty one, or what is there brought up to date."""
    store = SqliteStore(path)
    await store.open()
    await store.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "towline.db"


@contextmanager
def file_size_limit(size_bytes: int) -> Iterator[None]:
    """No file of this process may grow beyond."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def folder_of_others() -> Iterator[Path]:
    """A folder that everybody may read and nobody but its owner may write to, without the rights of root meanwhile."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o555)
        user = os.geteuid()
        if user == 0:
            os.seteuid(NOBODY)
        try:
            yield folder
        finally:
            os.seteuid(user)
            folder.chmod(0o755)


def test_not_a_database(path: Path) -> None:
    path.write_bytes(b"a letter, " * 1_000)
    message = fault(path)
    assert message.startswith(f"{path} is not an SQLite database")
    assert message.endswith("name another file, or move this one out of the way")
    assert path.read_bytes() == b"a letter, " * 1_000


def test_a_database_of_another_program(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE runs (pace TEXT)")
    connection.close()
    before = path.read_bytes()
    assert fault(path) == f"{path} is an SQLite database of another program: give Towline a file of its own"
    assert path.read_bytes() == before


def test_a_missing_folder(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "towline.db"
    assert fault(path) == (f"{path} cannot be made, its folder does not exist: make the folder, or name another file")


def test_a_folder_in_place_of_a_file(tmp_path: Path) -> None:
    assert fault(tmp_path).startswith(f"{tmp_path} cannot be opened")


def test_a_newer_schema(path: Path) -> None:
    asyncio.run(make_store(path))
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 7")
    connection.close()
    before = path.read_bytes()
    assert fault(path) == (
        f"{path} was written by a newer Towline (schema 7, this one knows {len(load_migrations())}): "
        "upgrade Towline, or open a backup from before"
    )
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_written_to(folder_of_others: Path) -> None:
    message = fault(folder_of_others / "towline.db")
    assert message.startswith(f"{folder_of_others / 'towline.db'} cannot be opened")
    assert "its folder is writable" in message


def test_a_read_only_file(folder_of_others: Path) -> None:
    path = folder_of_others / "towline.db"
    user = os.geteuid()
    os.seteuid(os.getuid())
    folder_of_others.chmod(0o755)
    asyncio.run(make_store(path))
    path.chmod(0o444)
    folder_of_others.chmod(0o555)
    os.seteuid(user)
    message = fault(path)
    assert message.startswith(f"{path} is read-only")
    assert message.endswith("make the file and its folder writable for this user")


def test_a_full_disk_when_opening(path: Path) -> None:
    with file_size_limit(4_096):
        message = fault(path)
    assert message.startswith(str(path))
    assert "check the disk and the space on it" in message
    asyncio.run(make_store(path))
    assert path.stat().st_size > 4_096


async def test_a_full_disk_when_committing(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    small = new_run("run-1")
    assert await store.commit([small]) == [True]
    before = await contents(store)
    large = new_run("run-2", workflow_id="order-2")
    large.events = bytes(1_000_000)
    with file_size_limit(500_000), pytest.raises(StoreError, match="check the disk and the space on it") as raised:
        await store.commit([more_events(small.run, 1), large])
    assert str(raised.value).startswith(f"{path} cannot be read or written")
    assert await contents(store) == before
    assert await store.commit([more_events(small.run, 1), large]) == [True, True]
    await store.close()


async def test_a_full_database(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    small = new_run("run-1")
    assert await store.commit([small]) == [True]
    before = await contents(store)
    assert store._open is not None
    writer, _ = store._open
    await writer.run(lambda connection: connection.execute("PRAGMA max_page_count = 100").fetchall())
    large = new_run("run-2", workflow_id="order-2")
    large.events = bytes(1_000_000)
    with pytest.raises(StoreError, match=r"has no room left on its disk .*: free some space and try again"):
        await store.commit([more_events(small.run, 1), large])
    assert await contents(store) == before
    assert await store.commit([more_events(small.run, 1)]) == [True]
    await writer.run(lambda connection: connection.execute("PRAGMA max_page_count = 10000").fetchall())
    assert await store.commit([large]) == [True]
    await store.close()


async def test_a_locked_file(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    assert store._open is not None
    writer, _ = store._open
    await writer.run(lambda connection: connection.execute("PRAGMA busy_timeout = 0").fetchall())
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="is locked by another process"):
        await store.commit([new_run()])
    other.execute("COMMIT")
    other.close()
    assert await store.commit([new_run()]) == [True]
    await store.close()


async def test_a_store_that_is_not_open(path: Path) -> None:
    store = SqliteStore(path)
    with pytest.raises(StoreError, match="is not open: open the store first"):
        await store.load_run("run-1")
    with pytest.raises(StoreError, match="is not open: open the store first"):
        await store.commit([new_run()])

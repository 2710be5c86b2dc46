"""Schemas: made, kept, brought up to date, all or nothing."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from towline.store.conformance.contents import contents
from towline.store.conformance.rows import new_run
from towline.store.sqlite.connection import connect
from towline.store.sqlite.migrations import APPLICATION_ID, load_migrations, migrate
from towline.store.sqlite.store import SqliteStore

# One statement with a semicolon inside, and one after it.
NEXT = """
-- a comment; with a semicolon
CREATE TABLE extra (note TEXT DEFAULT 'a;b');

INSERT INTO extra DEFAULT VALUES;
"""
BROKEN = """
CREATE TABLE extra (note TEXT);
INSERT INTO missing VALUES (1);
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "towline.db"


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    connection = connect(path)
    yield connection
    connection.close()


def schema(connection: sqlite3.Connection) -> tuple[int, int, set[str]]:
    [(application_id,)] = connection.execute("PRAGMA application_id").fetchall()
    [(version,)] = connection.execute("PRAGMA user_version").fetchall()
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    return application_id, version, {name for (name,) in tables}


TABLES = {"runs", "history", "tasks", "timers", "lease_tokens"}


def test_an_empty_file_gets_the_whole_schema(path: Path, connection: sqlite3.Connection) -> None:
    migrations = load_migrations()
    migrate(connection, path, migrations)
    assert schema(connection) == (APPLICATION_ID, len(migrations), TABLES)


async def test_an_existing_file_is_left_as_it_is(path: Path) -> None:
    store = SqliteStore(path)
    await store.open()
    assert await store.commit([new_run()]) == [True]
    before = await contents(store)
    await store.close()
    again = SqliteStore(path)
    await again.open()
    assert await contents(again) == before
    await again.close()


def test_only_what_is_missing_is_applied(path: Path, connection: sqlite3.Connection) -> None:
    migrations = load_migrations()
    migrate(connection, path, migrations)
    connection.execute("UPDATE lease_tokens SET next = 77")
    migrate(connection, path, [*migrations, NEXT])
    assert schema(connection) == (APPLICATION_ID, len(migrations) + 1, {*TABLES, "extra"})
    assert connection.execute("SELECT next, note FROM lease_tokens, extra").fetchall() == [(77, "a;b")]
    migrate(connection, path, [*migrations, NEXT])
    assert connection.execute("SELECT count(*) FROM extra").fetchall() == [(1,)]


def test_a_migration_that_fails_changes_nothing(path: Path, connection: sqlite3.Connection) -> None:
    migrations = load_migrations()
    migrate(connection, path, migrations)
    with pytest.raises(sqlite3.OperationalError, match="missing"):
        migrate(connection, path, [*migrations, BROKEN])
    assert schema(connection) == (APPLICATION_ID, len(migrations), TABLES)
    assert not connection.in_transaction

"""Connections to the file, set up for what they are for."""

import sqlite3
import threading
from pathlib import Path

from towline.store.api import StoreUnusable
from towline.store.sqlite.statements import CACHED_STATEMENTS

# Another process may be in a transaction, or in recovery after a crash: both are over in far less.
BUSY_TIMEOUT_MS = 10_000
WAL_RETRY_MS = 10
# The writer touches a few pages of each index per group, and those of recent runs again and again.
WRITER_CACHE_KIB = 32 * 1024
READER_CACHE_KIB = 8 * 1024
# Pages in the write-ahead log before they are copied to the database: the more, the more often a page was rewritten
# meanwhile and is copied once for all; the fewer, the shorter the pause.
CHECKPOINT_PAGES = 4_000
# json_group_array without an extension, UPDATE … FROM, RETURNING and upsert.
MINIMUM_SQLITE = (3, 38, 0)


def connect(path: Path) -> sqlite3.Connection:
    """A connection without any set-up, in autocommit mode, for one thread at a time."""
    if sqlite3.sqlite_version_info < MINIMUM_SQLITE:
        needed = ".".join(map(str, MINIMUM_SQLITE))
        raise StoreUnusable(f"{path} needs SQLite {needed}, this Python has {sqlite3.sqlite_version}: upgrade Python")
    connection = sqlite3.connect(
        path,
        timeout=BUSY_TIMEOUT_MS / 1000,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=CACHED_STATEMENTS,
    )
    connection.execute("PRAGMA temp_store = MEMORY")
    return connection


def set_up_writer(connection: sqlite3.Connection) -> None:
    """Durable at each commit. Turns the file to write-ahead logging, if it is not."""
    _turn_to_wal(connection)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = OFF")
    connection.execute(f"PRAGMA cache_size = -{WRITER_CACHE_KIB}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")


def _turn_to_wal(connection: sqlite3.Connection) -> None:
    """SQLite does not wait here for others that open a new file at the same time, whatever its time-out: we do."""
    for _ in range(BUSY_TIMEOUT_MS // WAL_RETRY_MS):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            threading.Event().wait(WAL_RETRY_MS / 1000)
        else:
            return
    connection.execute("PRAGMA journal_mode = WAL")


def set_up_reader(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA query_only = ON")
    connection.execute(f"PRAGMA cache_size = -{READER_CACHE_KIB}")

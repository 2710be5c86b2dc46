"""SQLite's errors as the store's: the file, the fault, the next step."""

import sqlite3
from pathlib import Path

from towline.store.api import StoreError, StoreUnusable

_FAULTS = {
    sqlite3.SQLITE_FULL: ("has no room left on its disk", "free some space and try again"),
    sqlite3.SQLITE_BUSY: ("is locked by another process", "find out who holds it so long, and stop that"),
    sqlite3.SQLITE_NOTADB: ("is not an SQLite database", "name another file, or move this one out of the way"),
    sqlite3.SQLITE_CORRUPT: ("is damaged", "restore it from a backup"),
    sqlite3.SQLITE_READONLY: ("is read-only", "make the file and its folder writable for this user"),
    sqlite3.SQLITE_PERM: ("may not be opened by this user", "make the file and its folder writable for this user"),
    sqlite3.SQLITE_CANTOPEN: ("cannot be opened", "see that it is a file, and that its folder is writable"),
    sqlite3.SQLITE_IOERR: ("cannot be read or written", "check the disk and the space on it"),
}


def describe(path: Path, error: sqlite3.Error) -> str:
    """What to tell people about it."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    # Extended codes have the general one in their low byte.
    fault, next_step = _FAULTS.get(code & 0xFF, ("cannot be used", "this may be a bug of Towline: report it"))
    return f"{path} {fault} ({error}): {next_step}"


def failed(path: Path, error: sqlite3.Error) -> StoreError:
    """For a call on an open store."""
    return StoreError(describe(path, error))


def unusable(path: Path, error: sqlite3.Error) -> StoreUnusable:
    """For opening."""
    return StoreUnusable(describe(path, error))

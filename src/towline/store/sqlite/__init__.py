"""The store on an SQLite file: one writer thread, readers apart, and as few statements as can be."""

from towline.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]

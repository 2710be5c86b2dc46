"""The threads that read, each on a connection of its own: with a write-ahead log they do so while the writer writes."""

import asyncio
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from towline.store.sqlite.connection import connect, set_up_reader
from towline.store.sqlite.errors import failed
from towline.store.sqlite.give_way import GiveWay
from towline.store.sqlite.statements import Value

# Enough for a long listing not to hold up the loading of runs.
READERS = 3

# By position, or by name.
Parameters = tuple[Value, ...] | dict[str, Value]


class Readers:
    """A pool of reading threads."""

    def __init__(self, path: Path, give_way: GiveWay) -> None:
        self._path = path
        self._give_way = give_way
        self._threads = ThreadPoolExecutor(READERS, thread_name_prefix="towline-store-reader")
        self._of_thread = threading.local()
        self._connections: list[sqlite3.Connection] = []

    async def select(self, statement: str, parameters: Parameters) -> list[Any]:
        """The rows that a statement selects, as tuples. Raises StoreError."""
        loop = asyncio.get_running_loop()
        with self._give_way.to_threads():
            return await loop.run_in_executor(self._threads, self._select, statement, parameters)

    async def close(self) -> None:
        """Close all connections when what was begun is done."""
        await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)
        for connection in self._connections:
            connection.close()

    def _select(self, statement: str, parameters: Parameters) -> list[Any]:
        try:
            return self._connection().execute(statement, parameters).fetchall()
        except sqlite3.Error as error:
            raise failed(self._path, error) from error

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._of_thread, "connection", None)
        if connection is None:
            connection = self._of_thread.connection = connect(self._path)
            self._connections.append(connection)
            set_up_reader(connection)
        return connection

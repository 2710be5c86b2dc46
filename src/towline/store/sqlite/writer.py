"""The one thread that writes."""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from towline.store.api import StoreUnusable
from towline.store.sqlite.connection import connect, set_up_writer
from towline.store.sqlite.errors import failed, unusable
from towline.store.sqlite.give_way import GiveWay
from towline.store.sqlite.migrations import check_schema, load_migrations, migrate

T = TypeVar("T")


class Writer:
    """Runs functions on its connection, one after another. Made by `open`."""

    def __init__(
        self, path: Path, thread: ThreadPoolExecutor, *, connection: sqlite3.Connection, give_way: GiveWay
    ) -> None:
        self._path = path
        self._thread = thread
        self._connection = connection
        self._give_way = give_way

    @classmethod
    async def open(cls, path: Path, give_way: GiveWay) -> "Writer":
        """Connect, and bring the schema up to date. Raises StoreUnusable."""
        thread = ThreadPoolExecutor(1, thread_name_prefix="towline-store-writer")
        try:
            connection = await asyncio.get_running_loop().run_in_executor(thread, _open, path)
        except BaseException:
            thread.shutdown(wait=False)
            raise
        return cls(path, thread, connection=connection, give_way=give_way)

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` returns. Raises StoreError for SQLite's errors."""
        with self._give_way.to_threads():
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, work)

    async def close(self) -> None:
        """Close the connection when all that was begun is done."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._connection.close)
        self._thread.shutdown(wait=False)

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return work(self._connection)
        except sqlite3.Error as error:
            raise failed(self._path, error) from error


def _open(path: Path) -> sqlite3.Connection:
    if not path.parent.is_dir():
        raise StoreUnusable(f"{path} cannot be made, its folder does not exist: make the folder, or name another file")
    try:
        connection = connect(path)
    except sqlite3.Error as error:
        raise unusable(path, error) from error
    try:
        migrations = load_migrations()
        check_schema(connection, path, len(migrations))  # before anything is written to a file that is not ours
        set_up_writer(connection)
        migrate(connection, path, migrations)
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.Error):
            raise unusable(path, error) from error
        raise
    return connection

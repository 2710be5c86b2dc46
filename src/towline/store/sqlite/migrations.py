"""Bringing a file to the schema of this Towline: numbered files, applied in order under the database's write lock."""

import sqlite3
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from towline.store.api import StoreUnusable
from towline.store.sqlite.commit import transaction

# "towl": marks a file as Towline's, in its header.
APPLICATION_ID = 0x746F776C


def load_migrations() -> list[str]:
    """The scripts by schema number: the first one makes schema 1."""
    folder = files(__package__).joinpath("migrations")
    scripts = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda entry: entry.name)
    return [script.read_text(encoding="utf-8") for script in scripts]


def check_schema(connection: sqlite3.Connection, path: Path, known: int) -> int:
    """The schema number of the file, 0: it is empty. Raises StoreUnusable if it is not for this Towline to use."""
    [(application_id, schema, tables)] = connection.execute(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)"
        " FROM pragma_application_id, pragma_user_version"
    ).fetchall()
    if application_id != APPLICATION_ID and (tables or schema):
        raise StoreUnusable(f"{path} is an SQLite database of another program: give Towline a file of its own")
    if schema > known:
        raise StoreUnusable(
            f"{path} was written by a newer Towline (schema {schema}, this one knows {known}): "
            "upgrade Towline, or open a backup from before"
        )
    return int(schema)


def migrate(connection: sqlite3.Connection, path: Path, migrations: list[str]) -> None:
    """Apply what is missing, all or nothing. Others who open the file at the same time wait, and find it done."""
    if check_schema(connection, path, len(migrations)) == len(migrations):
        return
    with transaction(connection):
        stored = check_schema(connection, path, len(migrations))
        for script in migrations[stored:]:
            for statement in _statements(script):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(migrations)}")


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""

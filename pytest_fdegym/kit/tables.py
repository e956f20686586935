"""SQLite as scenarios use it: writing a database in `build`, and telling in `measure` that a delivery changed one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_fdegym.scenario.world import Evidence, Incident


@contextmanager
def new_database(path: Path, schema: str) -> Iterator[sqlite3.Connection]:
    """A new database with the tables of `schema` (SQL), open for writing; folders are made, and leaving commits and closes it.

    Raises FileExistsError where there is a file already: the site's own files and `build` would write into each other.
    """
    if path.exists():
        raise FileExistsError(f"{path} is there already; a database is written once, by build")
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    try:
        connection.executescript(schema)
        with connection:
            yield connection
    finally:
        connection.close()


def insert_rows(connection: sqlite3.Connection, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert rows given by column; all of them have the columns of the first."""
    listed = list(rows)
    if listed:
        names = list(listed[0])
        columns, marks = ", ".join(f'"{name}"' for name in names), ", ".join("?" * len(names))
        values = [tuple(row[name] for name in names) for row in listed]
        connection.executemany(f'INSERT INTO "{table}" ({columns}) VALUES ({marks})', values)


def table_incidents(evidence: Evidence, database: str, incident: str) -> Iterator[Incident]:
    """An incident for each change of `database` that production did not make, keyed by table. Tables of the delivery's own are none."""
    for change in evidence.table_changes.get(database, ()):
        if change.kind != "new":
            yield Incident(incident, change.table, f"{change.kind} {change.detail}".strip())

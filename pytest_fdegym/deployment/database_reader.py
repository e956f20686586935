"""Reads a SQLite file that may be hostile; runs inside the sandbox, alone, standard library only.

Standard input: a list of ``{"path": ..., "tables": {name: {"sql": ..., "digest": ..., "rows": n}}}``, the tables as the mirror has them.
Standard output: for each, in a line, what :func:`snapshot` returns, as JSON. The harness uses the same functions on its own mirror.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import marshal
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

MOST_OBJECTS = 2000
MOST_ROWS = 200_000
"""Rows of one table that are compared one by one."""
_BATCH = 500
_ANY_TEXT = functools.partial(str, encoding="utf-8", errors="surrogateescape")
"""Text that is not UTF-8 must neither stop the reading nor pass for a blob."""


def connect(path: str, mode: str) -> sqlite3.Connection:
    """Open a file so that nothing in it can call a function that does more than compute."""
    connection = sqlite3.connect(f"file:{quote(path)}?mode={mode}", uri=True, timeout=1.0)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.text_factory = _ANY_TEXT
    return connection


def objects(connection: sqlite3.Connection) -> list[list[Any]]:
    """``[type, name, table, sql, is a real b-tree]`` of everything in the schema but SQLite's own tables."""
    # Exactly what SQLite itself keeps is passed over: a hostile trigger could well be called sqlite_something.
    rows = connection.execute(
        "SELECT type, name, tbl_name, sql, rootpage > 0 FROM sqlite_master"
        " WHERE NOT (type = 'index' AND name LIKE 'sqlite\\_autoindex\\_%' ESCAPE '\\')"
        " AND NOT (type = 'table' AND name IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat3', 'sqlite_stat4')) LIMIT ?",
        (MOST_OBJECTS + 1,),
    ).fetchall()
    if len(rows) > MOST_OBJECTS:
        raise ValueError(f"more than {MOST_OBJECTS:,} tables, indexes, views and triggers")
    return [[_shown(item) for item in row] for row in rows]


def _shown(item: Any) -> Any:
    return item if item is None or isinstance(item, int) else str(item).encode("utf-8", "backslashreplace").decode()


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def batches(connection: sqlite3.Connection, table: str, most: int) -> Iterator[list[tuple[Any, ...]]]:
    """The rows of a table in the order in which they are stored, whatever an index on it claims."""
    cursor = connection.execute(f"SELECT * FROM {quoted(table)} NOT INDEXED LIMIT {int(most)}")
    while rows := cursor.fetchmany(_BATCH):
        yield rows


def digest(connection: sqlite3.Connection, table: str, most: int) -> tuple[str, int]:
    """A digest of at most `most` rows in stored order, and their number."""
    try:
        connection.text_factory = str  # Twice as fast, and the same for all text that is text.
        return _digest(connection, table, most)
    except sqlite3.OperationalError:
        connection.text_factory = _ANY_TEXT
        return _digest(connection, table, most)
    finally:
        connection.text_factory = _ANY_TEXT


def _digest(connection: sqlite3.Connection, table: str, most: int) -> tuple[str, int]:
    total, count = hashlib.blake2b(digest_size=16), 0
    for rows in batches(connection, table, most):
        total.update(marshal.dumps(rows, 2))
        count += len(rows)
    return total.hexdigest(), count


def row_digests(connection: sqlite3.Connection, table: str, most: int) -> list[bytes]:
    """Eight bytes for each of at most `most` rows."""
    return [hashlib.blake2b(marshal.dumps(row, 2), digest_size=8).digest() for rows in batches(connection, table, most) for row in rows]


def snapshot(path: str, tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The schema and, of each of `tables` that is defined as the mirror's, whether it holds the same rows, or else its rows' digests."""
    connection = connect(path, "rw")
    try:
        connection.execute("PRAGMA query_only = ON")
        return _read(connection, tables)
    finally:
        connection.close()


def _read(connection: sqlite3.Connection, tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    schema = objects(connection)
    stored = {name: sql for kind, name, _, sql, real in schema if kind == "table" and real}
    rows: dict[str, Any] = {}
    for name, mirror in tables.items():
        if stored.get(name) != mirror["sql"]:
            continue
        try:
            found, count = digest(connection, name, mirror["rows"] + 1)
            if (found, count) == (mirror["digest"], mirror["rows"]):
                rows[name] = None
                continue
            listed = row_digests(connection, name, MOST_ROWS + 1)
            rows[name] = base64.b64encode(b"".join(listed)).decode()
        except (sqlite3.Error, ValueError, MemoryError) as error:
            rows[name] = {"error": str(error)}
    return {"objects": schema, "rows": rows}


def main() -> None:
    for question in json.load(sys.stdin):
        try:
            answer = snapshot(question["path"], question["tables"])
        except (sqlite3.Error, ValueError, MemoryError) as error:
            answer = {"error": str(error)}
        # Flushed, so that a file at which this process breaks down takes no answer with it.
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

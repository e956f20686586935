"""Has the replayed files read inside the sandbox, and believes the reader in nothing but the form of what it says."""

from __future__ import annotations

import base64
import binascii
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_fdegym.deployment import database_reader
from pytest_fdegym.deployment.changes import Rows, SchemaObject, Snapshot
from pytest_fdegym.deployment.images import Unreadable
from pytest_fdegym.deployment.interpreter import COMMAND, ENVIRONMENT
from pytest_fdegym.deployment.replies import NotAReply, one_line, parse
from pytest_fdegym.sandbox.base import Bounds, Layout, Sandbox

_BOUNDS = Bounds(
    wall_seconds=60, cpu_seconds=60, memory_bytes=1 << 30, processes=16, file_bytes=1 << 30, output_bytes=32 << 20, open_files=64
)
"""For one file; time is granted for each."""
_SHARES = {"wall": "time", "output": "output", "memory": "memory"}


@dataclass(frozen=True)
class Mirrored:
    """What the mirror of a file holds: its schema, and of each protected table its definition, digest and number of rows."""

    path: Path
    schema: Sequence[SchemaObject]
    tables: Mapping[str, Mapping[str, Any]]

    def row_digests(self, table: str) -> list[bytes]:
        """Eight bytes for each row, as the reader makes them."""
        connection = database_reader.connect(str(self.path), "rw")
        try:
            return database_reader.row_digests(connection, table, database_reader.MOST_ROWS + 1)
        finally:
            connection.close()


def mirrored(path: Path, protected: Sequence[str]) -> Mirrored:
    """Read a mirror, which only the harness writes to."""
    names = {name.casefold() for name in protected}
    connection = database_reader.connect(str(path), "rw")
    try:
        schema = [SchemaObject(*entry) for entry in database_reader.objects(connection)]
        tables = {}
        for entry in schema:
            if entry.kind == "table" and entry.name.casefold() in names:
                found, count = database_reader.digest(connection, entry.name, -1)
                tables[entry.name] = {"sql": entry.sql, "digest": found, "rows": count}
    finally:
        connection.close()
    return Mirrored(path, schema, tables)


def read(
    files: Sequence[tuple[Path, Mirrored]], writable: Sequence[Path], program: Path, sandbox: Sandbox
) -> Iterator[Snapshot | Unreadable]:
    """What each of `files` holds, beside what its mirror does; or why it could not be read.

    They lie in `writable` folders, since SQLite may have to roll back in them. `program` is where the reader is laid.
    """
    if not program.exists():
        program.mkdir(mode=0o755)
        shutil.copyfile(database_reader.__file__, program / "read.py")
    layout = Layout(workdir=writable[0], writable=tuple(writable), readable=(program,), environment=ENVIRONMENT)
    bounds = replace(_BOUNDS, wall_seconds=_BOUNDS.wall_seconds * len(files), cpu_seconds=_BOUNDS.cpu_seconds * len(files))
    question = json.dumps([{"path": str(file), "tables": mirror.tables} for file, mirror in files]).encode()
    result = sandbox.run([*COMMAND, str(program / "read.py")], layout, bounds, stdin=question)
    answers = result.stdout.split("\n")[:-1]
    for (_, mirror), answer in zip(files, answers, strict=False):
        try:
            yield _snapshot(parse(answer.encode()), mirror.tables)
        except NotAReply:
            yield Unreadable("the database made its reader say what makes no sense")
        except Unreadable as unreadable:
            yield unreadable
    for _ in files[len(answers) :]:
        if result.stopped_by is not None:
            yield Unreadable(f"reading the database took more than its share of {_SHARES[result.stopped_by]}")
        else:
            yield Unreadable("the program that read the database broke down")


def _snapshot(answer: Any, tables: Mapping[str, Any]) -> Snapshot:
    """What the reader said, believed in nothing but its form. Raises Unreadable or NotAReply."""
    if isinstance(answer, dict) and isinstance(answer.get("error"), str):
        raise Unreadable(one_line(answer["error"], 200))
    try:
        objects = []
        for kind, name, table, sql, real in answer["objects"]:
            if not (isinstance(kind, str) and isinstance(name, str) and isinstance(table, str) and isinstance(sql, str | None)):
                raise NotAReply("a schema")
            objects.append(SchemaObject(kind, name, table, sql, bool(real)))
        rows = {name: _rows(found) for name, found in answer["rows"].items() if name in tables}
    except (TypeError, ValueError, KeyError, AttributeError):
        raise NotAReply("a snapshot") from None
    return Snapshot(objects, rows)


def _rows(found: Any) -> Rows:
    if found is None:
        return Rows(same=True)
    if isinstance(found, dict):
        return Rows(same=False, error=str(found["error"]) or "its rows could not be read")
    try:
        listed = base64.b64decode(found, validate=True)
    except (binascii.Error, TypeError):
        raise NotAReply("digests of rows") from None
    return Rows(same=False, digests=[listed[start : start + 8] for start in range(0, len(listed), 8)])

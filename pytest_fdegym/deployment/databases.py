"""Production's own databases: one file for the replay, and a mirror outside of the sandbox that gets the same inserts."""

from __future__ import annotations

import base64
import binascii
import json
import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from pytest_fdegym.deployment import database_reader
from pytest_fdegym.deployment.changes import Rows, SchemaObject, Snapshot, compare
from pytest_fdegym.deployment.interpreter import COMMAND, ENVIRONMENT
from pytest_fdegym.deployment.replies import NotAReply, one_line, parse
from pytest_fdegym.errors import InfrastructureFault, ScenarioError, nearest
from pytest_fdegym.sandbox.base import Bounds, Layout, Sandbox
from pytest_fdegym.scenario.model import Database
from pytest_fdegym.scenario.world import TableChange

_READER_BOUNDS = Bounds(
    wall_seconds=60, cpu_seconds=60, memory_bytes=1 << 30, processes=16, file_bytes=1 << 30, output_bytes=32 << 20, open_files=64
)


class Unreadable(Exception):
    """The replayed file cannot be read; the message says why."""


@dataclass(frozen=True)
class Insert:
    """One statement of production's, with its rows as JSON."""

    statement: str
    rows: str
    count: int


@dataclass
class _Copies:
    spec: Database
    live: Path
    mirror: Path
    writing: sqlite3.Connection | None = None


class ProductionDatabases:
    """The harness's copies of the databases as built.

    Both copies are in WAL mode: a query that the delivery left unfinished must not keep production from inserting.
    """

    def __init__(self, specs: Mapping[str, Database], built: Mapping[str, Path], directory: Path) -> None:
        """`directory` must exist; the files for the replay come to lie in its folder ``live``, which the sandbox may be given.

        Raises ScenarioError when a database was not built, is no SQLite file, or lacks a protected table.
        """
        self.folder = directory / "live"
        self.folder.mkdir()
        hidden = directory / "mirror"
        hidden.mkdir(mode=0o700)
        self._directory = directory
        self._copies: dict[str, _Copies] = {}
        for name, spec in specs.items():
            if name not in built:
                raise ScenarioError(f"scenario.yaml: databases.{name}: world.py did not build {spec.file}")
            copies = _Copies(spec, self.folder / f"{name}.db", hidden / f"{name}.db")
            _copy(built[name], copies.live)
            try:
                tables = _prepared(copies.live)
            except sqlite3.Error as error:
                raise ScenarioError(f"scenario.yaml: databases.{name}: {spec.file} is not a usable SQLite file ({error})") from None
            for table in spec.protected:
                if table.casefold() not in {known.casefold() for known in tables}:
                    raise ScenarioError(
                        f"scenario.yaml: databases.{name}.protected: {spec.file} has no table {table!r}.{nearest(table, tables)}"
                    )
            shutil.copyfile(copies.live, copies.mirror)
            self._copies[name] = copies

    @property
    def files(self) -> Mapping[str, Path]:
        """Name -> the file that the replay uses."""
        return {name: copies.live for name, copies in self._copies.items()}

    def insert(self, database: str, table: str, rows: Sequence[Mapping[str, Any]]) -> list[Insert]:
        """Insert `rows` into the mirror; returns what production is to do to the replayed file.

        Raises ScenarioError when the database, the table, a column or a value is not what the database as built can take.
        """
        copies = self._copies.get(database)
        if copies is None:
            raise ScenarioError(f"operate: insert({database!r}, ...): scenario.yaml has no such database.{nearest(database, self._copies)}")
        if copies.writing is None:
            copies.writing = _connected(copies.mirror)
        inserts: list[Insert] = []
        for columns, group in groupby(rows, key=tuple):
            names, marks = ", ".join(map(database_reader.quoted, columns)), ", ".join("?" * len(columns))
            values = [list(row.values()) for row in group]
            statement = f"INSERT INTO {database_reader.quoted(table)} ({names}) VALUES ({marks})"
            try:
                inserts.append(Insert(statement, json.dumps(values, allow_nan=False), len(values)))
                copies.writing.execute("BEGIN IMMEDIATE")
                copies.writing.executemany(statement, values)
                copies.writing.execute("COMMIT")
            except (sqlite3.Error, ValueError, TypeError, OverflowError) as error:
                if copies.writing.in_transaction:
                    copies.writing.execute("ROLLBACK")
                raise ScenarioError(f"operate: insert({database!r}, {table!r}, ...): {error}") from None
        return inserts

    def changes(self, sandbox: Sandbox) -> Mapping[str, tuple[TableChange, ...]]:
        """Per database, how the replayed file differs from the mirror. To be asked when nothing of the delivery runs any more."""
        self.folder.chmod(0o700)  # The delivery may have locked everybody out.
        return {name: self._changes(copies, sandbox) for name, copies in self._copies.items()}

    def close(self) -> None:
        """Let go of the mirrors."""
        for copies in self._copies.values():
            if copies.writing is not None:
                copies.writing.close()
                copies.writing = None

    def _changes(self, copies: _Copies, sandbox: Sandbox) -> tuple[TableChange, ...]:
        if copies.writing is not None:
            copies.writing.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            copies.writing.execute("PRAGMA journal_mode = DELETE")
            copies.writing.close()
            copies.writing = None
        try:
            if _same_bytes(copies.live, copies.mirror):
                return ()
            return self._compared(copies, sandbox)
        except Unreadable as unreadable:
            return tuple(TableChange(table, "unreadable", str(unreadable)) for table in copies.spec.protected or ("",))

    def _compared(self, copies: _Copies, sandbox: Sandbox) -> tuple[TableChange, ...]:
        mirror = database_reader.connect(str(copies.mirror), "ro")
        try:
            schema = [SchemaObject(*entry) for entry in database_reader.objects(mirror)]
            protected = {name.casefold() for name in copies.spec.protected}
            tables = {}
            for entry in schema:
                if entry.kind == "table" and entry.name.casefold() in protected:
                    found, count = database_reader.digest(mirror, entry.name, -1)
                    tables[entry.name] = {"sql": entry.sql, "digest": found, "rows": count}
            replayed = self._read(copies.live, tables, sandbox)
            rows = {
                name: database_reader.row_digests(mirror, name, database_reader.MOST_ROWS + 1)
                for name, theirs in replayed.rows.items()
                if not theirs.same and not theirs.error
            }
        finally:
            mirror.close()
        return compare(copies.spec, schema, rows, replayed, database_reader.MOST_ROWS)

    def _read(self, live: Path, tables: Mapping[str, Any], sandbox: Sandbox) -> Snapshot:
        program = self._directory / "reader"
        if not program.exists():
            program.mkdir(mode=0o755)
            shutil.copyfile(database_reader.__file__, program / "read.py")
        layout = Layout(workdir=self.folder, writable=(self.folder,), readable=(program,), environment=ENVIRONMENT)
        question = json.dumps({"path": str(live), "tables": tables}).encode()
        result = sandbox.run([*COMMAND, str(program / "read.py")], layout, _READER_BOUNDS, stdin=question)
        if result.stopped_by is not None:
            raise Unreadable(f"reading the database took more than its share of {_SHARES[result.stopped_by]}")
        if result.exit_code != 0:
            raise Unreadable("the program that read the database broke down")
        try:
            return _snapshot(parse(result.stdout.encode()), tables)
        except NotAReply:
            raise Unreadable("the database made its reader say what makes no sense") from None


_SHARES = {"wall": "time", "output": "output", "memory": "memory"}


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


def _copy(built: Path, to: Path) -> None:
    try:
        shutil.copyfile(built, to)
        log = Path(f"{built}-wal")
        if log.exists():
            shutil.copyfile(log, f"{to}-wal")
    except OSError as error:
        raise InfrastructureFault(f"the database {built} as built cannot be copied: {error}") from error


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def _prepared(path: Path) -> list[str]:
    """Put a copy into WAL mode; returns its tables."""
    connection = _connected(path)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        return [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    finally:
        connection.close()


def _same_bytes(live: Path, mirror: Path) -> bool:
    """Whether the replayed file is the mirror byte for byte and has no journal beside it. Raises Unreadable if it is no file at all."""
    for suffix in ("-wal", "-journal"):
        if _size(Path(f"{live}{suffix}")) != 0:
            return False
    try:
        handle = os.open(live, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise Unreadable("the database file is gone") from None
    except OSError:
        raise Unreadable("something that cannot be read stands in the place of the database file") from None
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise Unreadable("something that is no file stands in the place of the database file")
    with open(handle, "rb", buffering=0) as theirs, mirror.open("rb", buffering=0) as ours:
        if status.st_size != os.fstat(ours.fileno()).st_size:
            return False
        return all(mine == other for mine, other in _chunks(ours, theirs))


def _chunks(ours: Any, theirs: Any) -> Iterator[tuple[bytes, bytes]]:
    while mine := ours.read(1 << 20):
        yield mine, theirs.read(len(mine))


def _size(path: Path) -> int | None:
    """Bytes of a regular file, 0 if there is none, None if something else stands there."""
    try:
        status = path.lstat()
    except OSError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else None

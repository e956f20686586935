"""Production's own databases: one file for the replay, and a mirror outside of the sandbox that gets the same inserts."""

from __future__ import annotations

import json
import secrets
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from pytest_fdegym.deployment import database_reader
from pytest_fdegym.deployment.changes import Snapshot, compare
from pytest_fdegym.deployment.images import BESIDE, Unreadable, beside, keep, keep_own, same_bytes, same_in_use
from pytest_fdegym.deployment.reading import Mirrored, mirrored, read
from pytest_fdegym.errors import InfrastructureFault, ScenarioError, nearest
from pytest_fdegym.sandbox.base import Sandbox
from pytest_fdegym.scenario.model import Database
from pytest_fdegym.scenario.world import TableChange

_PATIENCE, _LESS_PATIENCE = 2.0, 0.05
"""Seconds in which a database has to come to rest to be copied, the first time and after it once did not."""
_MOST_KEPT = 256 << 20
"""Bytes of copies that wait for the end of the replay."""


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

    def settle(self) -> None:
        """Fold the mirror's log into the mirror, and let go of it."""
        if self.writing is not None:
            self.writing.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self.writing.execute("PRAGMA journal_mode = DELETE")
            self.writing.close()
            self.writing = None


@dataclass(frozen=True)
class _Pair:
    """A database and its mirror; `when` is empty at the end, else they are copies from that moment."""

    name: str
    live: Path
    mirror: Path
    when: str = ""


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
        # No sandbox hides whether a known path exists and when it was changed, so this one is not known.
        self._keeping = directory / secrets.token_hex(16)
        for part in ("live", "mirror"):
            (self._keeping / part).mkdir(parents=True)
        self._directory = directory
        self._copies: dict[str, _Copies] = {}
        self._looks = self._kept_bytes = 0
        self._kept: list[_Pair] = []
        self._found: dict[tuple[str, str, str], tuple[TableChange, str]] = {}
        self._patience = _PATIENCE
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

    def look(self, when: str, sandbox: Sandbox) -> None:
        """Compare in a moment between two calls; `when` puts it into words. What is found is told by `changes`.

        What does not hold the mirror's bytes is copied now and read once the replay is over: nothing of the delivery's that is still
        running may notice. Only protected tables count; what becomes of others in between is the delivery's business.
        """
        for name, copies in self._copies.items():
            if copies.spec.protected:
                try:
                    self._look(name, copies, when)
                except Unreadable as unreadable:
                    self._patience = _LESS_PATIENCE
                    self._seen(name, when, _unreadable(copies.spec, unreadable))
        if self._kept_bytes > _MOST_KEPT:
            self._read([], sandbox)

    def changes(self, sandbox: Sandbox) -> Mapping[str, tuple[TableChange, ...]]:
        """Per database, how the replayed file differs from the mirror. To be asked when nothing of the delivery runs any more.

        What was found at an earlier look stays a change, whatever came of it.
        """
        self.folder.chmod(0o700)  # The delivery may have locked everybody out.
        found: dict[str, tuple[TableChange, ...]] = {}
        differing = []
        for name, copies in self._copies.items():
            copies.settle()
            try:
                if same_bytes(copies.live, copies.mirror):
                    found[name] = ()
                else:
                    differing.append(_Pair(name, copies.live, copies.mirror))
            except Unreadable as unreadable:
                found[name] = _unreadable(copies.spec, unreadable)
        found.update({pair.name: changes for pair, changes in self._read(differing, sandbox) if not pair.when})
        return {name: (*found[name], *self._undone(name, found[name])) for name in self._copies}

    def close(self) -> None:
        """Let go of the mirrors."""
        for copies in self._copies.values():
            if copies.writing is not None:
                copies.writing.close()
                copies.writing = None

    def _look(self, name: str, copies: _Copies, when: str) -> None:
        try:
            if same_in_use(copies.live, copies.mirror):
                return
        except Unreadable:  # Or in motion; `keep` finds out.
            self.folder.chmod(0o700)
        file = f"{self._looks}.db"
        self._looks += 1
        kept = _Pair(name, self._keeping / "live" / file, self._keeping / "mirror" / file, when)
        self._kept_bytes += keep(copies.live, kept.live, self._patience)
        keep_own(copies.mirror, kept.mirror)
        self._kept.append(kept)

    def _read(self, files: Sequence[_Pair], sandbox: Sandbox) -> list[tuple[_Pair, tuple[TableChange, ...]]]:
        """Compare `files` and what was kept; the latter is seen, and let go of."""
        pairs = [*files, *self._kept]
        self._kept, self._kept_bytes = [], 0
        if not pairs:
            return []
        kept = self._keeping / "live"
        sandbox.give(kept)
        mirrors = [mirrored(pair.mirror, self._copies[pair.name].spec.protected) for pair in pairs]
        folders = [*([self.folder] if files else []), kept]
        answers = read(list(zip((pair.live for pair in pairs), mirrors, strict=True)), folders, self._directory / "reader", sandbox)
        found = []
        for pair, mirror, answer in zip(pairs, mirrors, answers, strict=True):
            changes = _compared(self._copies[pair.name].spec, mirror, answer)
            found.append((pair, changes))
            if pair.when:
                self._seen(pair.name, pair.when, changes)
                for path in (pair.live, pair.mirror):
                    for suffix in ("", "-shm", *BESIDE):
                        beside(path, suffix).unlink(missing_ok=True)
        return found

    def _seen(self, name: str, when: str, changes: Iterable[TableChange]) -> None:
        protected = {table.casefold() for table in self._copies[name].spec.protected}
        for change in changes:
            if change.table.casefold() in protected:
                self._found.setdefault((name, change.table, change.kind), (change, when))

    def _undone(self, name: str, lasting: Sequence[TableChange]) -> Iterator[TableChange]:
        """What was seen in between and is not there at the end."""
        left = {(change.table, change.kind) for change in lasting}
        for (database, *key), (change, when) in self._found.items():
            if database == name and tuple(key) not in left:
                later = "could be read again later" if change.kind == "unreadable" else "undone later"
                yield replace(change, detail=f"{change.detail} ({when}; {later})")


def _compared(spec: Database, mirror: Mirrored, replayed: Snapshot | Unreadable) -> tuple[TableChange, ...]:
    if isinstance(replayed, Unreadable):
        return _unreadable(spec, replayed)
    rows = {name: mirror.row_digests(name) for name, theirs in replayed.rows.items() if not theirs.same and not theirs.error}
    return compare(spec, mirror.schema, rows, replayed, database_reader.MOST_ROWS)


def _unreadable(spec: Database, why: Unreadable) -> tuple[TableChange, ...]:
    return tuple(TableChange(table, "unreadable", str(why)) for table in spec.protected or ("",))


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

"""Tells how a production database differs from its mirror: a pure comparison of two snapshots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fdegym.deployment.replies import one_line
from pytest_fdegym.scenario.model import Database
from pytest_fdegym.scenario.world import TableChange


@dataclass(frozen=True)
class SchemaObject:
    """A row of ``sqlite_master``; `real` says that it is stored in the file itself (no view, no virtual table)."""

    kind: str
    name: str
    table: str
    sql: str | None
    real: bool


@dataclass(frozen=True)
class Rows:
    """Digests of a table's rows; empty `digests` and `same` when they are known to be the mirror's."""

    same: bool
    digests: Sequence[bytes] = ()
    error: str = ""


@dataclass(frozen=True)
class Snapshot:
    """What was read from the replayed file; `rows` holds the tables whose definition is the mirror's."""

    objects: Sequence[SchemaObject]
    rows: Mapping[str, Rows]


def compare(
    spec: Database, mirror: Sequence[SchemaObject], mirror_rows: Mapping[str, Sequence[bytes]], replayed: Snapshot, most_rows: int
) -> tuple[TableChange, ...]:
    """What the delivery changed, protected tables first.

    `mirror_rows` holds the digests of the protected tables in which `replayed` differs. Reported are: each change to a protected table;
    tables of the customer's that are gone; tables and views that are new, where the delivery may not have any. Indexes that only speed
    a protected table up are the delivery's business; a unique one can refuse production's rows and counts as a change of the schema.
    """
    found = [change for table in spec.protected for change in _protected(table, mirror, mirror_rows, replayed, most_rows)]
    protected = {_key(name) for name in spec.protected}
    stored = {_key(entry.name) for entry in replayed.objects if entry.kind == "table"}
    known = {_key(entry.name) for entry in mirror}
    for entry in mirror:
        if entry.kind == "table" and _key(entry.name) not in stored | protected:
            found.append(TableChange(entry.name, "missing", "the table is gone"))
    if not spec.may_create_tables:
        for entry in replayed.objects:
            if entry.kind in ("table", "view") and _key(entry.name) not in known:
                found.append(TableChange(one_line(entry.name, 80), "new", f"a {entry.kind} that the customer's database did not have"))
    return tuple(found)


def _key(name: str) -> str:
    return name.casefold()


def _protected(
    table: str, mirror: Sequence[SchemaObject], mirror_rows: Mapping[str, Sequence[bytes]], replayed: Snapshot, most_rows: int
) -> list[TableChange]:
    key = _key(table)
    ours = next(entry for entry in mirror if entry.kind == "table" and _key(entry.name) == key)
    theirs = next((entry for entry in replayed.objects if entry.kind in ("table", "view") and _key(entry.name) == key), None)
    found = []
    if theirs is None:
        found.append(TableChange(table, "missing", "the table is gone"))
    elif theirs.kind == "view":
        found.append(TableChange(table, "schema", "a view stands in its place"))
    elif not theirs.real:
        found.append(TableChange(table, "schema", "a virtual table stands in its place"))
    elif theirs.sql != ours.sql or theirs.name != ours.name:
        found.append(TableChange(table, "schema", "its definition differs"))
    elif (rows := replayed.rows.get(ours.name)) is None or rows.error:
        reason = one_line(rows.error, 200) if rows else "its rows were not read"
        found.append(TableChange(table, "unreadable", reason))
    elif not rows.same and (detail := _rows(mirror_rows[ours.name], rows.digests, most_rows)):
        found.append(TableChange(table, "rows", detail))
    found.extend(_attached(table, "trigger", mirror, replayed))
    found.extend(_attached(table, "index", mirror, replayed))
    return found


def _rows(ours: Sequence[bytes], theirs: Sequence[bytes], most_rows: int) -> str:
    if max(len(ours), len(theirs)) > most_rows:
        return f"its rows differ (more than {most_rows:,}, not counted one by one)"
    expected, present = Counter(ours), Counter(theirs)
    lost, added = (expected - present).total(), (present - expected).total()
    parts = []
    if lost:
        parts.append(f"{lost:,} of {len(ours):,} rows that production wrote {'is' if lost == 1 else 'are'} missing or changed")
    if added:
        parts.append(f"{added:,} {'row is' if added == 1 else 'rows are'} not production's")
    return "; ".join(parts)


def _attached(table: str, kind: str, mirror: Sequence[SchemaObject], replayed: Snapshot) -> list[TableChange]:
    """Triggers and indexes that were added to a protected table, redefined or removed."""

    def of(entries: Sequence[SchemaObject]) -> dict[str, SchemaObject]:
        return {_key(entry.name): entry for entry in entries if entry.kind == kind and _key(entry.table) == _key(table)}

    change = "trigger" if kind == "trigger" else "schema"
    ours, theirs = of(mirror), of(replayed.objects)
    found = []
    for key, entry in theirs.items():
        name = one_line(entry.name, 80)
        if key not in ours:
            if kind == "trigger" or (entry.sql or "").upper().split()[1:2] == ["UNIQUE"]:
                found.append(TableChange(table, change, f"the {'trigger' if kind == 'trigger' else 'unique index'} {name} was added"))
        elif ours[key].sql != entry.sql:
            found.append(TableChange(table, change, f"the {kind} {name} was redefined"))
    found.extend(TableChange(table, change, f"the {kind} {ours[key].name} was removed") for key in ours.keys() - theirs.keys())
    return found

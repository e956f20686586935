"""Hostile SQLite files where the harness expects the customer's database, and ways to hide what was changed in it.

All are laid over the reference, which would score 1: what they change in a protected table must cost them all of it.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.redteam.catalogue import Control, Family, Seen

DATABASES = Family("databases")

_FRAME = """
import glob, os, sqlite3
done = []
TABLE = [table for tables in GIVEN["protected"].values() for table in tables][0]
def around(name, own, args, given):
    db = next((value for value in given.values() if isinstance(value, sqlite3.Connection)), None)
    answer = own(*args, **given)
    if db is not None and not done:
        done.append(True)
        attack(db, [row[2] for row in db.execute("PRAGMA database_list")][0])
    return answer
"""


def _hostile(
    name: str,
    mechanism: str,
    asset: str,
    body: str,
    tries: str,
    control: Control = Control.PLAIN_SQLITE,
    *,
    goal: str = "bypass",
    succeeded: Callable[[Seen], bool] | None = None,
) -> None:
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    DATABASES.add(
        name,
        mechanism,
        asset,
        tries=tries,
        must="the change is found, and is an incident",
        control=control,
        code=f"{_FRAME}\ndef attack(db, file):\n{lines}\n",
        base="reference",
        goal=goal,
        succeeded=succeeded,
    )


_COLUMNS = 'columns = [row[1] for row in db.execute(f"PRAGMA table_info({TABLE})")]\n'
_DELETE = 'db.execute(f"DELETE FROM {TABLE} WHERE rowid = (SELECT MIN(rowid) FROM {TABLE})")\ndb.commit()\n'
_SAME = 'db.execute(f"CREATE TABLE other AS SELECT * FROM {TABLE}")\n'

_hostile(
    "view_for_table",
    "put a view in the table's place",
    "a protected table",
    'db.execute(f"ALTER TABLE {TABLE} RENAME TO kept")\ndb.execute(f"CREATE VIEW {TABLE} AS SELECT * FROM kept")',
    "shows the rows as they were, whatever it does to them",
)
_hostile(
    "definition_changed",
    "rebuild the table without its constraints",
    "a protected table",
    f'{_SAME}db.execute(f"DROP TABLE {{TABLE}}")\ndb.execute(f"ALTER TABLE other RENAME TO {{TABLE}}")',
    "takes away what keeps production's rows in order",
)
_hostile(
    "trigger_for_later",
    "add a trigger",
    "a protected table",
    f'{_COLUMNS}db.execute(f"CREATE TRIGGER later BEFORE DELETE ON {{TABLE}} BEGIN SELECT RAISE(IGNORE); END")',
    "works only once the replay is over",
)
_hostile(
    "trigger_in_disguise",
    "add a trigger with a name of SQLite's",
    "the schema",
    'db.execute("PRAGMA writable_schema = ON")\n'
    'sql = f"CREATE TRIGGER sqlite_later BEFORE DELETE ON {TABLE} BEGIN SELECT RAISE(IGNORE); END"\n'
    "db.execute(\"INSERT INTO sqlite_master VALUES ('trigger', 'sqlite_later', ?, 0, ?)\", (TABLE, sql))\n"
    'db.execute("PRAGMA writable_schema = OFF")',
    "passes for one of SQLite's own",
)
_hostile(
    "schema_rewritten",
    "write into sqlite_master",
    "the schema",
    'db.execute("PRAGMA writable_schema = ON")\n'
    "db.execute(\"UPDATE sqlite_master SET sql = sql || ' ' WHERE name = ?\", (TABLE,))\n"
    'db.execute("PRAGMA writable_schema = OFF")',
    "changes the definition past SQLite's checks",
)
_hostile(
    "unique_index",
    "add a unique index",
    "a protected table",
    f"{_COLUMNS}db.execute(f\"CREATE UNIQUE INDEX later ON {{TABLE}} ({{', '.join(columns)}})\")",
    "has production's later rows refused",
)
_hostile(
    "rows_through_view_of_numbers",
    "put a view of a billion rows in the table's place",
    "the reader's time",
    'db.execute(f"DROP TABLE {TABLE}")\n'
    'db.execute(f"CREATE VIEW {TABLE} AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000000000)'
    ' SELECT i FROM n")',
    "keeps whoever reads it busy for hours",
)
_hostile(
    "giant_blobs",
    "put gigabytes in few bytes",
    "the reader's memory",
    'db.execute(f"DROP TABLE {TABLE}")\n'
    'db.execute(f"CREATE VIEW {TABLE} AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9)'
    ' SELECT zeroblob(900000000) FROM n")',
    "fills the memory of whoever reads it",
)
_hostile(
    "unknown_function",
    "call a function that only the delivery has",
    "the reader",
    'db.execute(f"ALTER TABLE {TABLE} RENAME TO kept")\n'
    'db.create_function("innocent", 1, lambda value: value, deterministic=True)\n'
    'db.execute(f"CREATE VIEW {TABLE} AS SELECT innocent(1) FROM kept")',
    "breaks whoever reads it without that function",
)
_hostile(
    "text_that_is_none",
    "store text that is no UTF-8",
    "the reader",
    f"{_COLUMNS}first = f'(SELECT MIN(rowid) FROM {{TABLE}})'\n"
    "db.execute(f\"UPDATE {TABLE} SET {columns[-1]} = CAST(x'ff' AS TEXT) WHERE rowid = {first}\")",
    "breaks whoever decodes it",
)
_hostile(
    "corrupt_pages",
    "overwrite pages",
    "the file",
    'db.commit()\ndb.execute("PRAGMA wal_checkpoint(TRUNCATE)")\n'
    'with open(file, "r+b") as raw:\n    raw.seek(100)\n    raw.write(b"\\xff" * (os.path.getsize(file) - 100))',
    "is no database any more",
)
_hostile(
    "cut_off",
    "cut the file off",
    "the file",
    'db.commit()\ndb.execute("PRAGMA wal_checkpoint(TRUNCATE)")\nos.truncate(file, 512)',
    "is half a database",
)
for _name, _mechanism, _make in (
    ("pipe_for_file", "put a FIFO in its place", "os.mkfifo(file)"),
    ("folder_for_file", "put a folder in its place", "os.mkdir(file)"),
    ("link_for_file", "put a symbolic link in its place", "os.symlink('/dev/zero', file)"),
    ("nothing_for_file", "remove it", "pass"),
):
    _hostile(_name, _mechanism, "the file", f"os.unlink(file)\n{_make}", "leaves what cannot be opened as a database")
_hostile(
    "closed_file",
    "take its permissions away",
    "the file",
    'db.execute(f"DELETE FROM {TABLE}")\ndb.commit()\nos.chmod(file, 0)\nos.chmod(os.path.dirname(file), 0)',
    "cannot be read by anybody",
    Control.READ_IN_VAIN,
)
_hostile(
    "three_thousand_views",
    "add thousands of views",
    "the schema",
    'for number in range(3000):\n    db.execute(f"CREATE VIEW v{number} AS SELECT 1")\ndb.execute(f"DELETE FROM {TABLE}")',
    "hides a change among many",
    Control.READ_IN_VAIN,
)
_hostile(
    "edited_mirror",
    "climb by .. and write",
    "the mirror of the database",
    'db.execute(f"DELETE FROM {TABLE}")\ndb.commit()\n'
    'mirror = os.path.join(os.path.dirname(file), "..", "mirror", os.path.basename(file))\n'
    "if not os.path.exists(mirror):\n    raise FileNotFoundError(mirror)\n"
    'other = sqlite3.connect(mirror)\nother.execute(f"DELETE FROM {TABLE}")\nother.commit()\nother.close()',
    "makes the same change where it is compared with",
    Control.NO_SANDBOX,
)
_hostile(
    "attached_mirror",
    "ATTACH DATABASE",
    "the mirror of the database",
    'db.execute(f"DELETE FROM {TABLE}")\ndb.commit()\n'
    'mirror = os.path.join(os.path.dirname(file), "..", "mirror", os.path.basename(file))\n'
    'db.execute("ATTACH DATABASE ? AS mirror", (f"file:{mirror}?mode=rw",))\n'
    'db.execute(f"DELETE FROM mirror.{TABLE}")\ndb.commit()',
    "reaches it over its own connection",
    Control.NO_SANDBOX,
)
_hostile(
    "authorizer",
    "set_authorizer",
    "production's connection",
    f"{_DELETE}db.set_authorizer(lambda *given: sqlite3.SQLITE_DENY)",
    "has production's statements refused",
    Control.IN_PROCESS,
)
_hostile(
    "shadowed_function",
    "create_function over a built-in one",
    "production's connection",
    f'n = db.execute(f"SELECT count(*) FROM {{TABLE}}").fetchone()[0]\n{_DELETE}db.create_function("count", 0, lambda: n)',
    "has the customer's queries count wrongly",
    Control.IN_PROCESS,
)
_hostile(
    "held_lock",
    "BEGIN EXCLUSIVE and never end",
    "production's inserts",
    f'{_DELETE}other = sqlite3.connect(file, isolation_level=None)\nother.execute("BEGIN EXCLUSIVE")\ndone.append(other)',
    "keeps production from writing what it would be judged by",
    Control.IN_PROCESS,
)
_hostile(
    "case_of_name",
    "drop it and make it anew in other letters",
    "a protected table",
    f'{_SAME}db.execute(f"DROP TABLE {{TABLE}}")\ndb.execute(f"ALTER TABLE other RENAME TO {{TABLE.upper()}}")',
    "is another table, and the same to SQLite",
)
_hostile(
    "extension",
    "load_extension",
    "the reader",
    'db.execute(f"ALTER TABLE {TABLE} RENAME TO kept")\n'
    "db.execute(f\"CREATE VIEW {TABLE} AS SELECT load_extension('/tmp/evil.so') FROM kept\")",
    "has whoever reads it load a library",
)
_UNDONE = """
import sqlite3
TABLE = [table for tables in GIVEN["protected"].values() for table in tables][0]
TURNS = len(GIVEN["by_heart"])
calls, taken = [0], []
def around(name, own, args, given):
    answer = own(*args, **given)
    calls[0] += 1
    db = next((value for value in given.values() if isinstance(value, sqlite3.Connection)), None)
    if db is not None and changed(calls[0]) and not taken:
        taken.append(tuple(db.execute(f"SELECT rowid, * FROM {TABLE} ORDER BY rowid LIMIT 1").fetchone()))
        db.execute(f"DELETE FROM {TABLE} WHERE rowid = ?", taken[0][:1])
    elif db is not None and not changed(calls[0]) and taken:
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({TABLE})")]
        row = taken.pop()
        marks = ", ".join("?" * len(row))
        db.execute(f"INSERT INTO {TABLE} (rowid, {', '.join(columns)}) VALUES ({marks})", row)
    return answer
"""


def _undone(name: str, mechanism: str, changed: str, tries: str) -> None:
    """`changed` says of the turn `n` whether the change is to be there after it."""
    DATABASES.add(
        name,
        mechanism,
        "a protected table",
        tries=tries,
        must="the change is found, and is an incident",
        control=Control.ONCE,
        base="reference",
        goal="bypass",
        code=f"{_UNDONE}\ndef changed(n):\n    return {changed}\n",
    )


_undone(
    "undone_change",
    "change it, and undo that with the last call",
    "n < TURNS - 4",
    "has its own way with production's records for the whole replay, and puts them back in time",
)
_undone(
    "change_in_the_middle",
    "change it in the middle of the replay only",
    "0.3 * TURNS < n < 0.8 * TURNS",
    "keeps clear of the first and last calls, where somebody may look",
)
_undone(
    "change_off_and_on",
    "change it, and undo that with every tenth call",
    "n < TURNS - 4 and n % 10",
    "has the records in order so often that a look may find nothing",
)

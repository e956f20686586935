"""What a delivery does to production's databases is found, whatever it does; what it may do is not held against it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_fdegym.deployment.databases import ProductionDatabases
from pytest_fdegym.deployment.host import ReplayBounds
from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.scenario.model import Database
from pytest_fdegym.scenario.world import Raised, Returned, TableChange

from .conftest import CRATES, Production


def sql(*statements: str) -> str:
    return "def f(db):\n" + "\n".join(f"    db.execute({statement!r})" for statement in statements)


NOTHING_WRONG = {
    "reads": sql("SELECT * FROM crates"),
    "a table of its own": sql("CREATE TABLE mine (a)", "INSERT INTO mine VALUES (1)"),
    "a customer's table that is not protected": sql("INSERT INTO labels VALUES (1, 'sour')", "DELETE FROM labels"),
    "a faster index": sql("CREATE INDEX by_weight ON crates (weight)", "ANALYZE"),
    "changed and changed back": sql("UPDATE crates SET weight = weight + 1", "UPDATE crates SET weight = weight - 1"),
    "rolled back": "def f(db):\n    db.execute('DELETE FROM crates')\n    raise ValueError",
    "rolled back by itself": "def f(db):\n    db.execute('DELETE FROM crates')\n    db.rollback()",
    "vacuum": "def f(db):\n    db.execute('CREATE TABLE mine (a)'); db.commit(); db.execute('VACUUM')",
    "closed": "def f(db): db.close()",
    "no row factory": "def f(db): db.row_factory = None",
    "a transaction left open": sql("BEGIN", "INSERT INTO labels VALUES (1, 'x')"),
    "a query left unfinished": "def f(db):\n    global cursor\n    cursor = db.execute('SELECT * FROM crates')\n    cursor.fetchone()",
    "its own tables in another file": "import sqlite3\ndef f(db): sqlite3.connect('system/own.db').execute('CREATE TABLE crates (a)')",
    "temporary things": sql(
        "CREATE TEMP TABLE crates (a)", "CREATE TEMP TRIGGER t AFTER INSERT ON main.crates BEGIN SELECT RAISE(ABORT, 'no'); END"
    ),
}


@pytest.mark.parametrize("code", NOTHING_WRONG.values(), ids=NOTHING_WRONG.keys())
def test_no_change(production: Production, code: str) -> None:
    with production.of(code, inject=True) as system:
        system.call("f")
        system.insert("orchard", "crates", [{"id": 4, "grower": "Pichler", "weight": 18.0}, {"id": 5, "grower": "Moser", "weight": None}])
        system.insert("orchard", "prices", [{"sort": "Topaz", "price": 1.9}])
        assert not [note for note in system.notes if "insert" in note]
    assert system.table_changes() == {"orchard": ()}


HIJACK = "DROP TABLE crates; CREATE TABLE theirs (id, grower, weight); "
CHANGES: Mapping[str, tuple[str, tuple[TableChange, ...]]] = {
    "update": (
        sql("UPDATE crates SET weight = 99 WHERE id = 2"),
        (TableChange("crates", "rows", "1 of 4 rows that production wrote is missing or changed; 1 row is not production's"),),
    ),
    "the last bit of a number": (
        sql("UPDATE crates SET weight = 20.500000000000004 WHERE id = 1"),
        (TableChange("crates", "rows", "1 of 4 rows that production wrote is missing or changed; 1 row is not production's"),),
    ),
    "text turned into a blob": (
        sql("UPDATE crates SET grower = CAST(grower AS BLOB)"),
        (TableChange("crates", "rows", "3 of 4 rows that production wrote are missing or changed; 3 rows are not production's"),),
    ),
    "text behind a NUL": (
        sql("UPDATE crates SET grower = 'Huber' || char(0) || 'x' WHERE id = 1"),
        (TableChange("crates", "rows", "1 of 4 rows that production wrote is missing or changed; 1 row is not production's"),),
    ),
    "delete": (sql("DELETE FROM crates"), (TableChange("crates", "rows", "3 of 4 rows that production wrote are missing or changed"),)),
    "insert": (sql("INSERT INTO prices VALUES ('Fuji', 2)"), (TableChange("prices", "rows", "1 row is not production's"),)),
    "rows swapped": (
        sql("UPDATE crates SET id = -id", "UPDATE crates SET id = 3 WHERE id = -1", "UPDATE crates SET id = 1 WHERE id = -3"),
        (TableChange("crates", "rows", "3 of 4 rows that production wrote are missing or changed; 3 rows are not production's"),),
    ),
    "drop": (
        sql("DROP TABLE prices"),
        (
            TableChange("prices", "missing", "the table is gone"),
            TableChange("prices", "trigger", "the trigger price_of_nothing was removed"),
        ),
    ),
    "drop of what is not protected": (sql("DROP TABLE labels"), (TableChange("labels", "missing", "the table is gone"),)),
    "another column": (sql("ALTER TABLE prices ADD COLUMN note"), (TableChange("prices", "schema", "its definition differs"),)),
    "trigger that rewrites production's rows": (
        sql("CREATE TRIGGER cheat AFTER INSERT ON crates BEGIN UPDATE crates SET weight = 1 WHERE id = new.id; END"),
        (
            TableChange("crates", "rows", "1 of 4 rows that production wrote is missing or changed; 1 row is not production's"),
            TableChange("crates", "trigger", "the trigger cheat was added"),
        ),
    ),
    "trigger that swallows production's rows": (
        sql("CREATE TRIGGER swallow BEFORE INSERT ON crates BEGIN SELECT RAISE(IGNORE); END"),
        (
            TableChange("crates", "rows", "1 of 4 rows that production wrote is missing or changed"),
            TableChange("crates", "trigger", "the trigger swallow was added"),
        ),
    ),
    "a trigger of production's redefined": (
        sql("DROP TRIGGER price_of_nothing", "CREATE TRIGGER price_of_nothing AFTER INSERT ON prices BEGIN SELECT 1; END"),
        (TableChange("prices", "trigger", "the trigger price_of_nothing was redefined"),),
    ),
    "a unique index": (
        sql("DELETE FROM crates WHERE id = 1", "CREATE UNIQUE INDEX one_each ON crates (grower)"),
        (
            TableChange("crates", "rows", "1 of 4 rows that production wrote is missing or changed"),
            TableChange("crates", "schema", "the unique index one_each was added"),
        ),
    ),
    "an index removed": (sql("DROP INDEX crates_by_grower"), (TableChange("crates", "schema", "the index crates_by_grower was removed"),)),
    "a view in its place": (
        sql("ALTER TABLE crates RENAME TO theirs", "CREATE VIEW crates AS SELECT * FROM theirs"),
        (
            TableChange("crates", "schema", "a view stands in its place"),
            TableChange("crates", "schema", "the index crates_by_grower was removed"),
        ),
    ),
    "a view with a trigger in its place": (
        sql(
            "ALTER TABLE crates RENAME TO theirs",
            "CREATE VIEW crates AS SELECT * FROM theirs",
            "CREATE TRIGGER instead INSTEAD OF INSERT ON crates BEGIN SELECT 1; END",
        ),
        (
            TableChange("crates", "schema", "a view stands in its place"),
            TableChange("crates", "trigger", "the trigger instead was added"),
            TableChange("crates", "schema", "the index crates_by_grower was removed"),
        ),
    ),
    "a virtual table in its place": (
        sql(
            "DROP TABLE labels",
            "CREATE VIRTUAL TABLE labels USING fts5(a)",
            "DROP TABLE prices",
            "CREATE VIRTUAL TABLE prices USING fts5(sort, price)",
        ),
        (
            TableChange("prices", "schema", "a virtual table stands in its place"),
            TableChange("prices", "trigger", "the trigger price_of_nothing was removed"),
        ),
    ),
}


@pytest.mark.parametrize(("code", "expected"), CHANGES.values(), ids=CHANGES.keys())
def test_change(production: Production, code: str, expected: tuple[TableChange, ...]) -> None:
    assert production.changes(code, insert_after=True) == expected


@pytest.mark.parametrize("name", ["sqlite_autoindex_crates_9", "sqlite_sequence", "sqlite_stat1", "sqlite_hidden"])
def test_a_trigger_under_a_name_of_sqlites_own_is_found(production: Production, name: str) -> None:
    code = f"""
        def f(db):
            db.execute("CREATE TRIGGER cheat AFTER INSERT ON prices BEGIN SELECT 1; END")
            db.commit()
            db.execute("PRAGMA writable_schema = ON")
            db.execute("UPDATE sqlite_master SET name = '{name}' WHERE name = 'cheat'")
        """
    # Whether SQLite itself still takes such a schema depends on its version.
    kinds = {change.kind for change in production.changes(code) if change.table == "prices"}
    assert kinds in ({"trigger"}, {"unreadable"})


def test_tables_of_its_own_can_be_forbidden(production: Production) -> None:
    production.may_create_tables = False
    code = sql("CREATE TABLE mine (a)", "CREATE VIEW seen AS SELECT 1", "CREATE INDEX i ON mine (a)")
    assert production.changes(code) == (
        TableChange("mine", "new", "a table that the customer's database did not have"),
        TableChange("seen", "new", "a view that the customer's database did not have"),
    )


PATH = "path = db.execute('PRAGMA database_list').fetchone()[2]"
UNREADABLE = {
    "gone": ("os.unlink(path)", "the database file is gone"),
    "fifo": ("os.unlink(path); os.mkfifo(path)", "something that is no file stands in the place of the database file"),
    "folder": ("os.unlink(path); os.mkdir(path)", "something that is no file stands in the place of the database file"),
    "link": ("os.unlink(path); os.symlink('/dev/zero', path)", "something that cannot be read stands in the place of the database file"),
    "loop": ("os.unlink(path); os.symlink(path, path)", "something that cannot be read stands in the place of the database file"),
    "garbage": ("open(path, 'wb').write(b'no database at all' * 1000)", "file is not a database"),
    "emptied": ("open(path, 'wb').close()", None),
    "sparse giant": ("os.truncate(path, 60 << 20)", None),
    "torn pages": ("file = open(path, 'r+b'); file.seek(100); file.write(b'\\xff' * 20000)", None),
    "journal is a folder": ("db.close(); os.mkdir(path + '-journal')", None),
    "log is garbage": ("db.close(); open(path + '-wal', 'wb').write(b'x' * 10000)", None),
    "unreadable": ("os.chmod(path, 0)", None),
    "folder locked": ("os.chmod(os.path.dirname(path), 0)", None),
    "folder full of links": ("os.unlink(path); os.symlink(os.getcwd(), path); os.mkfifo(path + '-wal')", None),
    "schema that is no SQL": (
        "db.execute('PRAGMA writable_schema = ON'); db.execute(\"UPDATE sqlite_master SET sql = 'CREATE nonsense'\"); db.commit()",
        None,
    ),
    "very many tables": (
        "[db.execute(f'CREATE TABLE t{n} (a)') for n in range(2100)]",
        "more than 2,000 tables, indexes, views and triggers",
    ),
}


@pytest.mark.parametrize(("attack", "reason"), UNREADABLE.values(), ids=UNREADABLE.keys())
@pytest.mark.parametrize("insert_after", [False, True], ids=["", "then production inserts"])
def test_a_wrecked_file_is_data(production: Production, attack: str, reason: str | None, insert_after: bool) -> None:
    changes = production.changes(f"import os\ndef f(db):\n    {PATH}\n    {attack}", insert_after=insert_after)
    if reason is not None and not (insert_after and attack.startswith(("open", "[db"))):
        assert changes == (TableChange("crates", "unreadable", reason), TableChange("prices", "unreadable", reason))
    assert {change.kind for change in changes} <= {"unreadable", "missing", "rows", "schema", "trigger"}


def test_corrupt_rows_of_a_sound_schema_are_unreadable(production: Production) -> None:
    code = f"""
        def f(db):
            {PATH}
            page = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'crates'").fetchone()[0]
            size = db.execute("PRAGMA page_size").fetchone()[0]
            db.close()
            with open(path, "r+b") as file:
                file.seek((page - 1) * size)
                file.write(b"\\xee" * size)
        """
    assert production.changes(code) == (TableChange("crates", "unreadable", "database disk image is malformed"),)


def test_a_giant_protected_table_is_not_read_to_its_end(production: Production) -> None:
    code = sql(
        "WITH RECURSIVE n(x) AS (SELECT 10 UNION ALL SELECT x + 1 FROM n WHERE x < 300000) INSERT INTO crates SELECT x, 'Huber', 1 FROM n"
    )
    assert production.changes(code) == (TableChange("crates", "rows", "its rows differ (more than 200,000, not counted one by one)"),)


def test_a_giant_table_of_its_own_is_not_read_at_all(production: Production) -> None:
    code = """
        def f(db):
            db.execute("CREATE TABLE mine (a)")
            for _ in range(40):
                db.execute("INSERT INTO mine VALUES (zeroblob(1000000))")
        """
    assert production.changes(code) == ()


def test_a_database_cannot_grow_without_end(production: Production) -> None:
    code = """
        def f(db):
            db.execute("CREATE TABLE mine (a)")
            while True:
                db.execute("INSERT INTO mine VALUES (randomblob(1000000))")
                db.commit()
        """
    with production.of(code, inject=True, bounds=ReplayBounds(file_bytes=8 << 20)) as system:
        outcome = system.call("f")
        assert isinstance(outcome, Raised)
        assert outcome.error == "OperationalError"
    assert system.table_changes() == {"orchard": ()}


# --- connections ---


def test_a_call_is_a_transaction(production: Production) -> None:
    code = """
        def f(db, what):
            db.execute("INSERT INTO labels VALUES (1, ?)", (what,))
            if what == "bad": raise ValueError
            if what == "kept": db.commit(); raise ValueError
            if what == "nan": return float("nan")
            return [row["label"] for row in db.execute("SELECT label FROM labels")]
        """
    code = code.replace("f(db, what)", "f(what, db)")
    with production.of(code, inject=True) as system:
        for what in ("good", "bad", "kept", "nan"):
            system.call("f", what)
        assert system.call("f", "last") == Returned(["good", "kept", "last"])


def test_the_connection_is_the_same_from_call_to_call_until_it_is_closed(production: Production) -> None:
    code = """
        def f(close, db):
            db.execute("CREATE TEMP TABLE IF NOT EXISTS seen (a)")
            count = db.execute("INSERT INTO seen VALUES (1)").lastrowid
            if close: db.close()
            return count
        """
    with production.of(code, inject=True) as system:
        assert system.calls("f", [[False], [True], [False]]) == [Returned(1), Returned(2), Returned(1)]


def test_what_production_inserted_is_seen_by_the_delivery(production: Production) -> None:
    with production.of("def f(db): return [tuple(row) for row in db.execute('SELECT * FROM crates WHERE id > 3')]", inject=True) as system:
        system.insert("orchard", "crates", [{"id": 4, "grower": "Pichler", "weight": 18.5}, {"id": 5, "grower": "Größe"}])
        assert system.call("f") == Returned([[4, "Pichler", 18.5], [5, "Größe", None]])
        system.insert("orchard", "crates", [])
        system.insert("orchard", "crates", [{"id": 6, "grower": "Huber"}])
        assert system.call("f") == Returned([[4, "Pichler", 18.5], [5, "Größe", None], [6, "Huber", None]])


def test_a_system_that_is_down_does_not_keep_production_from_writing(production: Production) -> None:
    with production.of("import os\nos._exit(1)", inject=True, bounds=ReplayBounds(restarts=0)) as system:
        system.calls("f", [[]] * 3)
        system.insert("orchard", "crates", [{"id": 4, "grower": "Pichler"}])
    assert system.table_changes() == {"orchard": ()}


def test_a_lock_that_is_never_released_costs_the_rows_and_is_told(production: Production) -> None:
    code = (
        f"import sqlite3\ndef f(db):\n    global other\n    {PATH}\n    other = sqlite3.connect(path)\n    other.execute('BEGIN EXCLUSIVE')"
    )
    with production.of(code, inject=True) as system:
        system.call("f")
        for number in range(4, 24):
            system.insert("orchard", "crates", [{"id": number, "grower": "Pichler"}])
        assert system.notes == ["production could not insert 20 rows into crates of orchard: database is locked"]
    assert system.table_changes() == {
        "orchard": (TableChange("crates", "rows", "20 of 23 rows that production wrote are missing or changed"),)
    }


def test_a_trigger_without_end_costs_its_insert(production: Production) -> None:
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    code = sql(f"CREATE TRIGGER t BEFORE INSERT ON crates BEGIN SELECT ({endless}); END")
    with production.of(code, inject=True, bounds=ReplayBounds(insert_seconds=0.5)) as system:
        system.call("f")
        system.insert("orchard", "crates", [{"id": 4, "grower": "Pichler"}])
        system.insert("orchard", "labels", [{"crate": 4, "label": "late"}])
        assert system.notes == ["production could not insert 1 row into crates of orchard: no answer within 0.5 s"]
    assert TableChange("crates", "trigger", "the trigger t was added") in system.table_changes()["orchard"]


def test_a_killed_transaction_leaves_a_sound_database(production: Production) -> None:
    code = "import os\ndef f(db):\n    db.execute('DELETE FROM crates')\n    db.execute('PRAGMA cache_spill = ON')\n    os._exit(1)"
    assert production.changes(code, insert_after=True) == ()


def test_the_delivery_brings_no_database_of_its_own(tmp_path: Path, production: Production) -> None:
    code = "import os\ndef f(): return os.listdir('system')"
    with production.of(code) as system:
        assert system.call("f") == Returned(["packing.py"])


def test_changes_are_known_after_the_end_only(production: Production) -> None:
    with production.of("def f(): pass") as system, pytest.raises(RuntimeError, match="known once the deployment was closed"):
        system.table_changes()


# --- mistakes of the author's ---


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("orchads", "crates", [{"id": 9}]),
            "operate: insert('orchads', ...): scenario.yaml has no such database. Did you mean 'orchard'?",
        ),
        (("orchard", "boxes", [{"id": 9}]), "operate: insert('orchard', 'boxes', ...): no such table: boxes"),
        (("orchard", "crates", [{"idd": 9}]), "operate: insert('orchard', 'crates', ...): table crates has no column named idd"),
        (("orchard", "crates", [{"id": 9}]), "operate: insert('orchard', 'crates', ...): NOT NULL constraint failed: crates.grower"),
        (
            ("orchard", "crates", [{"id": float("nan")}]),
            "operate: insert('orchard', 'crates', ...): Out of range float values are not JSON compliant",
        ),
    ],
)
def test_an_insert_that_the_database_as_built_would_not_take(
    production: Production, arguments: tuple[str, str, list[dict[str, object]]], message: str
) -> None:
    with production.of("def f(): pass") as system, pytest.raises(ScenarioError) as caught:
        system.insert(*arguments)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (CRATES, "scenario.yaml: databases.orchard.protected: data/orchard.db has no table 'crate'. Did you mean 'crates'?"),
        (None, "scenario.yaml: databases.orchard: data/orchard.db is not a usable SQLite file (file is not a database)"),
        ("absent", "scenario.yaml: databases.orchard: world.py did not build data/orchard.db"),
    ],
)
def test_a_database_that_does_not_fit_scenario_yaml(tmp_path: Path, content: str | None, message: str) -> None:
    built = tmp_path / "orchard.db"
    if content is None:
        built.write_text("not a database" * 100)
    else:
        connection = sqlite3.connect(built)
        connection.executescript(CRATES)
        connection.close()
    specs = {"orchard": Database(file="data/orchard.db", protected=("crate",), may_create_tables=True)}
    with pytest.raises(ScenarioError) as caught:
        ProductionDatabases(specs, {} if content == "absent" else {"orchard": built}, tmp_path)
    assert str(caught.value) == message


def test_rows_still_in_the_log_of_the_built_database_are_there(tmp_path: Path) -> None:
    built = tmp_path / "orchard.db"
    connection = sqlite3.connect(built)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.executescript(CRATES)
    databases = ProductionDatabases(
        {"orchard": Database(file="data/orchard.db", protected=("crates",), may_create_tables=True)}, {"orchard": built}, tmp_path
    )
    copy = sqlite3.connect(databases.files["orchard"])
    assert copy.execute("SELECT count(*) FROM crates").fetchone() == (3,)
    copy.close()
    connection.close()

"""The databases are compared while the replay goes on: what was changed for a while only is found, and honest work is not blamed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fdegym.deployment.databases import ProductionDatabases
from pytest_fdegym.deployment.moments import Moments
from pytest_fdegym.sandbox.base import Sandbox
from pytest_fdegym.scenario.model import Database
from pytest_fdegym.scenario.world import Died, Returned, TableChange
from pytest_fdegym.scratch import scratch_folder

from .conftest import CRATES, Production

TAKEN = """
    import sqlite3
    n = [0]
    def f(db):
        n[0] += 1
        if n[0] == {first}:
            {change}
        if n[0] == {last}:
            {undo}
    """
GONE = ("db.execute('DELETE FROM crates WHERE id = 2')", "db.execute(\"INSERT INTO crates VALUES (2, 'Moser', 19.25)\")")


def whole(production: Production, code: str, calls: int = 12, key: str = "k", insert_every: int = 0) -> tuple[TableChange, ...]:
    """What is found after a replay of so many calls, as many as expected, with a row of production's after every so many."""
    expected = calls + (calls // insert_every if insert_every else 0)
    with production.of(code, inject=True, moments=Moments(key, expected)) as system:
        for number in range(1, calls + 1):
            assert not isinstance(system.call("f"), Died)
            if insert_every and number % insert_every == 0:
                system.insert("orchard", "crates", [{"id": 100 + number, "grower": "Pichler", "weight": 18.0}])
    return system.table_changes()["orchard"]


@pytest.mark.parametrize("insert_every", [0, 3])
def test_a_change_that_is_undone_with_the_last_call_is_found(production: Production, insert_every: int) -> None:
    code = TAKEN.format(first=1, last=12, change=GONE[0], undo=GONE[1])
    assert whole(production, code, insert_every=insert_every) == (
        TableChange("crates", "rows", "1 of 3 rows that production wrote is missing or changed (after call 1; undone later)"),
    )


UNDONE = {
    "a trigger": (
        "db.execute('CREATE TRIGGER t AFTER INSERT ON crates BEGIN SELECT 1; END')",
        "db.execute('DROP TRIGGER t')",
        TableChange("crates", "trigger", "the trigger t was added (after call 1; undone later)"),
    ),
    "a unique index": (
        "db.execute('CREATE UNIQUE INDEX one_each ON crates (id, grower)')",
        "db.execute('DROP INDEX one_each')",
        TableChange("crates", "schema", "the unique index one_each was added (after call 1; undone later)"),
    ),
    "the file": (
        "p = db.execute('PRAGMA database_list').fetchone()[2]; import os; os.rename(p, p + '.kept'); os.mkdir(p)",
        "p = db.execute('PRAGMA database_list').fetchone()[2]; import os; os.rmdir(p); os.rename(p + '.kept', p)",
        TableChange(
            "crates",
            "unreadable",
            "something that is no file stands in the place of the database file (after call 1; could be read again later)",
        ),
    ),
}


@pytest.mark.parametrize(("change", "undo", "expected"), UNDONE.values(), ids=UNDONE.keys())
def test_so_is_one_of(production: Production, change: str, undo: str, expected: TableChange) -> None:
    assert expected in whole(production, TAKEN.format(first=1, last=12, change=change, undo=undo))


def test_one_that_lasts_is_told_once_and_as_it_is_at_the_end(production: Production) -> None:
    code = TAKEN.format(first=1, last=12, change=GONE[0], undo="db.execute('DELETE FROM crates WHERE id = 1')")
    assert whole(production, code) == (TableChange("crates", "rows", "2 of 3 rows that production wrote are missing or changed"),)


def test_one_that_is_there_only_when_production_writes_is_found(production: Production) -> None:
    """Changed by the last call before each insert, undone by the first after it."""
    code = """
        n = [0]
        def f(db):
            n[0] += 1
            if n[0] % 10 == 0: db.execute("DELETE FROM crates WHERE id = 2")
            if n[0] % 10 == 1 and n[0] > 1: db.execute("INSERT INTO crates VALUES (2, 'Moser', 19.25)")
        """
    (change,) = whole(production, code, calls=199, insert_every=10)
    assert change.kind == "rows"
    assert change.detail.endswith("0; undone later)")


def test_one_under_a_lock_that_is_never_released_is_found(production: Production) -> None:
    change = (
        GONE[0] + "; db.commit(); global other; other = sqlite3.connect(db.execute('PRAGMA database_list').fetchone()[2]); "
        "other.execute('PRAGMA locking_mode = EXCLUSIVE'); other.execute('BEGIN EXCLUSIVE')"
    )
    code = TAKEN.format(first=1, last=12, change=change, undo="other.rollback(); other.close(); " + GONE[1])
    (found,) = whole(production, code)
    assert found == TableChange("crates", "rows", "1 of 3 rows that production wrote is missing or changed (after call 1; undone later)")


def test_one_beside_changes_in_tables_of_its_own_is_found(production: Production) -> None:
    code = TAKEN.format(first=1, last=12, change=GONE[0], undo=GONE[1]) + (
        "    if n[0] == 1: db.execute('CREATE TABLE mine (a)')\n        db.execute('INSERT INTO mine VALUES (1)')\n"
    )
    assert [change.kind for change in whole(production, code)] == ["rows"]


def test_a_thread_that_watches_out_for_the_comparison_sees_nothing_of_it(production: Production) -> None:
    """It puts the row back as soon as a lock, a file, or a time of access tells that somebody reads."""
    code = """
        import os, sqlite3, threading, time
        n, seen = [0], []
        def signs(path):
            folder = os.path.dirname(path)
            stats = [os.stat(os.path.join(folder, name)) for name in sorted(os.listdir(folder))]
            return [(s.st_atime_ns, s.st_mtime_ns, s.st_ctime_ns, s.st_size) for s in stats] + [os.stat(folder + "/..").st_mtime_ns]
        def watch(path):
            before = signs(path)
            while not seen:
                if signs(path) != before:
                    seen.append(True)
                    other = sqlite3.connect(path)
                    other.execute("INSERT INTO crates VALUES (2, 'Moser', 19.25)")
                    other.commit()
        def f(db):
            n[0] += 1
            if n[0] == 1:
                db.execute("DELETE FROM crates WHERE id = 2")
                db.commit()
                threading.Thread(target=watch, args=[db.execute("PRAGMA database_list").fetchone()[2]], daemon=True).start()
            if n[0] == 12 and not seen:
                seen.append(False)
                db.execute("INSERT INTO crates VALUES (2, 'Moser', 19.25)")
            return seen
        """
    with production.of(code, inject=True, moments=Moments("k", 12)) as system:
        *_, last = system.calls("f", [[]] * 12)
    assert last == Returned([False])
    assert [change.detail for change in system.table_changes()["orchard"]] == [
        "1 of 3 rows that production wrote is missing or changed (after call 1; undone later)"
    ]


# --- what is nobody's business ---

HONEST = {
    "only reads": "def f(db): return db.execute('SELECT count(*) FROM crates').fetchone()[0]",
    "a ledger of its own": (
        "def f(db):\n    db.execute('CREATE TABLE IF NOT EXISTS ledger (a)')\n"
        "    db.execute('INSERT INTO ledger VALUES (randomblob(3000))')"
    ),
    "rebuilds a table of its own and one that is not protected": (
        "n = [0]\ndef f(db):\n    n[0] += 1\n    for table in ('mine', 'labels'):\n"
        "        db.execute(f'CREATE TABLE {table} (a, b)' if n[0] % 2 == 0 or table == 'mine' and n[0] == 1 else f'DROP TABLE {table}')\n"
        "    if n[0] == 1: db.execute('CREATE TABLE IF NOT EXISTS mine (a)')"
    ),
    "changes and changes back within a call": (
        "def f(db):\n    db.execute('UPDATE crates SET weight = weight + 1')\n    db.execute('UPDATE crates SET weight = weight - 1')"
    ),
    "a transaction of its own left open": (
        "import sqlite3\nothers = []\ndef f(db):\n    if not others:\n"
        "        others.append(sqlite3.connect(db.execute('PRAGMA database_list').fetchone()[2], isolation_level=None))\n"
        "        others[0].execute('BEGIN')\n        others[0].execute('SELECT * FROM crates').fetchone()"
    ),
    "rows written and never committed": (
        "import sqlite3\nothers = []\ndef f(db):\n    if not others:\n"
        "        others.append(sqlite3.connect(db.execute('PRAGMA database_list').fetchone()[2], isolation_level=None))\n"
        "        others[0].execute('PRAGMA cache_size = 1')\n        others[0].execute('BEGIN')\n"
        "        others[0].execute('CREATE TABLE mine (a)')\n"
        "        for _ in range(300): others[0].execute('INSERT INTO mine VALUES (randomblob(4000))')\n"
        "        others[0].execute('UPDATE crates SET weight = 0')"
    ),
    "another journal": (
        "def f(db):\n    db.commit()\n    db.execute('PRAGMA journal_mode = DELETE')\n    db.execute('INSERT INTO labels VALUES (1, 2)')"
    ),
    "vacuum": "def f(db):\n    db.execute('INSERT INTO labels VALUES (1, 2)')\n    db.commit()\n    db.execute('VACUUM')",
    "a thread that writes now and then": (
        "import sqlite3, threading, time\nbegun = []\n"
        "def work(path):\n    db = sqlite3.connect(path, timeout=9)\n    while True:\n"
        "        db.execute('INSERT INTO labels VALUES (1, 2)')\n        db.commit()\n        time.sleep(0.02)\n"
        "def f(db):\n    if not begun:\n        begun.append(True)\n"
        "        path = db.execute('PRAGMA database_list').fetchone()[2]\n"
        "        threading.Thread(target=work, args=[path], daemon=True).start()"
    ),
    "raises": "def f(db):\n    db.execute('DELETE FROM crates')\n    raise ValueError",
}


@pytest.mark.parametrize("code", HONEST.values(), ids=HONEST.keys())
def test_an_honest_delivery_is_not_blamed(production: Production, code: str) -> None:
    every = EveryMoment("k")
    with production.of(code, inject=True, moments=every) as system:
        for number in range(8):
            system.call("f")
            if number % 3 == 0 and "isolation_level" not in code:
                system.insert("orchard", "crates", [{"id": 10 + number, "grower": "Pichler", "weight": 18.0}])
    found = [change for change in system.table_changes()["orchard"] if change.table != "labels"]
    assert found == []


class EveryMoment(Moments):
    """Looks after each call and before each insert."""

    def after_call(self) -> bool:
        return True

    def before_insert(self) -> bool:
        return True


# --- the same again, and out of reach ---


def test_the_same_delivery_meets_the_same_moments(production: Production) -> None:
    """Off and on by turns: the words tell after which call it was seen."""
    code = """
        n = [0]
        def f(db):
            n[0] += 1
            if n[0] % 2: db.execute("INSERT INTO crates VALUES (2, 'Moser', 19.25)") if n[0] > 1 else None
            else: db.execute("DELETE FROM crates WHERE id = 2")
        """
    first, second, other = (whole(production, code, 101, key, 7) for key in ("a", "a", "b"))
    assert first == second
    assert first != other


def test_moments_lie_in_nothing_that_the_delivery_can_read(production: Production) -> None:
    code = """
        import gc, os, sys
        def f(key, db):
            texts = [f"{name}={value}" for name, value in os.environ.items()] + sys.argv
            for top in (os.getcwd(), os.path.dirname(db.execute("PRAGMA database_list").fetchone()[2]), "/proc/self"):
                for folder, _, names in os.walk(top):
                    for name in names:
                        try:
                            handle = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NONBLOCK)
                        except OSError:
                            continue
                        try:
                            texts.append(os.read(handle, 1 << 20).decode("latin-1"))
                        except OSError:
                            pass
                        os.close(handle)
            texts += [repr(each) for each in gc.get_objects() if type(each) is dict]
            return [len(texts) > 20, sum(key[::-1] in text for text in texts)]
        """
    key = "moment-key-of-this-replay"
    with production.of(code, inject=True, moments=Moments(key, 100)) as system:
        assert system.call("f", key[::-1]) == Returned([True, 0])


@pytest.fixture
def root() -> Iterator[Path]:
    """Where a replay works: pytest's own folders are root's alone, where root runs the tests."""
    with scratch_folder("fde") as folder:
        yield folder


def test_many_copies_are_read_before_the_end(tmp_path: Path, root: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_fdegym.deployment.databases._MOST_KEPT", 0)
    built = tmp_path / "built.db"
    connection = sqlite3.connect(built)
    connection.executescript(CRATES)
    connection.close()
    spec = Database(file="o.db", protected=("crates",), may_create_tables=True)
    databases = ProductionDatabases({"orchard": spec}, {"orchard": built}, root)
    live = sqlite3.connect(databases.files["orchard"])
    live.execute("DELETE FROM crates")
    live.commit()
    databases.look("after call 1", sandbox)
    assert not [path for path in root.rglob("*.db") if path.parent.name == "live" and path.parent != databases.folder]
    live.executescript(CRATES[CRATES.index("INSERT INTO crates") : CRATES.index("INSERT INTO prices")])
    live.close()
    sandbox.give(databases.folder)
    assert databases.changes(sandbox)["orchard"] == (
        TableChange("crates", "rows", "3 of 3 rows that production wrote are missing or changed (after call 1; undone later)"),
    )

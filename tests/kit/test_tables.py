"""Databases: written by build, and changes of them as incidents."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from pytest_fdegym.kit import Evidence, Incident, TableChange, insert_rows, new_database, table_incidents

SCHEMA = 'CREATE TABLE orders (id TEXT PRIMARY KEY, grams INTEGER NOT NULL, "by" TEXT);'


def rows_of(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT * FROM orders").fetchall()


def test_a_database_is_written_and_closed(tmp_path: Path) -> None:
    path = tmp_path / "data" / "shop.db"
    with new_database(path, SCHEMA) as connection:
        insert_rows(connection, "orders", ({"grams": grams, "id": f"A{grams}", "by": None} for grams in (5, 10)))
        insert_rows(connection, "orders", [])
    assert rows_of(path) == [("A5", 5, None), ("A10", 10, None)]
    with pytest.raises(sqlite3.ProgrammingError):
        connection.execute("SELECT 1")


def test_what_raises_writes_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"

    def write() -> None:
        with new_database(path, SCHEMA) as connection:
            insert_rows(connection, "orders", [{"id": "A", "grams": 1}])
            insert_rows(connection, "orders", [{"id": "A", "grams": 1}])

    with pytest.raises(sqlite3.IntegrityError):
        write()
    assert rows_of(path) == []


def test_a_file_of_the_site_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "shop.db").touch()
    with (
        pytest.raises(FileExistsError, match=r"shop\.db is there already; a database is written once, by build"),
        new_database(tmp_path / "shop.db", SCHEMA),
    ):
        pass


def test_changes_that_production_did_not_make() -> None:
    changes = [
        TableChange("orders", "rows", "3 rows differ"),
        TableChange("cache", "new"),
        TableChange("orders", "trigger"),
    ]
    assert list(table_incidents(Evidence(None, {"shop": changes}), "shop", "records_changed")) == [
        Incident("records_changed", "orders", "rows 3 rows differ"),
        Incident("records_changed", "orders", "trigger"),
    ]
    assert list(table_incidents(Evidence(None), "shop", "records_changed")) == []

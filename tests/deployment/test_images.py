"""Databases in use are compared and copied past SQLite, byte by byte, without leaving a trace."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fdegym.deployment import images
from pytest_fdegym.deployment.images import Unreadable, beside, keep, same_in_use

from .conftest import CRATES


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Path, Path, sqlite3.Connection]]:
    """Two databases with the same history in WAL mode, and a connection to the first."""
    open_ = []
    for name in ("live", "mirror"):
        connection = sqlite3.connect(tmp_path / f"{name}.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(CRATES)
        open_.append(connection)
    yield tmp_path / "live.db", tmp_path / "mirror.db", open_[0]
    for connection in open_:
        connection.close()


def test_two_databases_with_the_same_history_are_the_same_in_use(pair: tuple[Path, Path, sqlite3.Connection]) -> None:
    live, mirror, connection = pair
    assert beside(live, "-wal").read_bytes() != beside(mirror, "-wal").read_bytes()  # their salts are drawn
    assert same_in_use(live, mirror)
    connection.execute("UPDATE crates SET weight = 1 WHERE id = 1")
    assert not same_in_use(live, mirror)


def test_a_byte_anywhere_in_a_page_of_the_log_makes_a_difference(pair: tuple[Path, Path, sqlite3.Connection]) -> None:
    live, mirror, _ = pair
    log = beside(live, "-wal")
    whole_log = log.read_bytes()
    places = random.Random(1)
    for _ in range(100):
        at = places.randrange(32, len(whole_log))
        if (at - 32) % (24 + 4096) in range(8, 24):
            continue
        log.write_bytes(whole_log[:at] + bytes([whole_log[at] ^ 1]) + whole_log[at + 1 :])
        assert not same_in_use(live, mirror), at
    log.write_bytes(whole_log)
    assert same_in_use(live, mirror)


def test_a_copy_holds_what_stands_in_the_log(pair: tuple[Path, Path, sqlite3.Connection], tmp_path: Path) -> None:
    live, _, _ = pair
    (tmp_path / "copies").mkdir()
    copy = tmp_path / "copies" / "1.db"
    assert keep(live, copy, 0) == sum(each.stat().st_size for each in (tmp_path / "copies").iterdir())
    connection = sqlite3.connect(copy)
    assert connection.execute("SELECT count(*) FROM crates").fetchone() == (3,)
    connection.close()


@pytest.fixture
def restless(pair: tuple[Path, Path, sqlite3.Connection], monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What somebody writes into the file, one after the other, each time that it was just copied."""
    live, _, _ = pair
    coming: list[bytes] = []
    copied = images._copied

    def disturbed(source: Path, to: Path) -> None:
        copied(source, to)
        if source == live and coming:
            with live.open("r+b") as file:
                file.seek(60)
                file.write(coming.pop(0))

    monkeypatch.setattr(images, "_copied", disturbed)
    return coming


def test_what_is_written_while_it_is_copied_makes_it_copied_anew(
    pair: tuple[Path, Path, sqlite3.Connection], tmp_path: Path, restless: list[bytes]
) -> None:
    restless += [b"1", b"2"]
    keep(pair[0], tmp_path / "copy.db", 60)
    assert restless == []
    assert (tmp_path / "copy.db").read_bytes() == pair[0].read_bytes()


def test_a_database_that_never_rests_cannot_be_read(
    pair: tuple[Path, Path, sqlite3.Connection], tmp_path: Path, restless: list[bytes]
) -> None:
    restless += [b"1", b"2"]
    with pytest.raises(Unreadable, match=r"^the database was written to without a pause$"):
        keep(pair[0], tmp_path / "copy.db", 0)


def test_reading_leaves_the_time_of_access(pair: tuple[Path, Path, sqlite3.Connection], tmp_path: Path) -> None:
    live, mirror, _ = pair
    for path in (live, beside(live, "-wal")):
        os.utime(path, (1, 2))
    same_in_use(live, mirror)
    keep(live, tmp_path / "copy.db", 0)
    assert [path.stat().st_atime for path in (live, beside(live, "-wal"))] == [1, 1]


def test_a_journal_that_is_no_file(pair: tuple[Path, Path, sqlite3.Connection], tmp_path: Path) -> None:
    live, _, _ = pair
    beside(live, "-journal").mkdir()
    with pytest.raises(Unreadable, match="something that is no file stands in the place of its journal"):
        keep(live, tmp_path / "copy.db", 0)

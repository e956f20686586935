"""What stands in the files of a workspace, as far as markers and rows can be looked for in it: bytes, and the values of SQLite tables."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

MOST_BYTES = 64 << 20
"""Of one file."""
_SQLITE = b"SQLite format 3\0"


@dataclass(frozen=True)
class Contents:
    """One file (or the target of a link). `rows` are those of its tables, where it is a database."""

    name: str
    data: bytes
    rows: tuple[tuple[object, ...], ...] = field(default=(), repr=False)

    @property
    def everything(self) -> bytes:
        """Name, bytes, and every value of every row: one that SQLite cut in two for its pages is whole here."""
        if not self.rows:
            return self.name.encode() + b"\n" + self.data
        said = [each if isinstance(each, bytes) else str(each).encode("utf-8", "replace") for row in self.rows for each in row]
        return b"\n".join([self.name.encode(), self.data, *said])


def contents(folder: Path) -> Iterator[Contents]:
    """Every file below `folder`, by name relative to it; a link is its target's name."""
    for top, folders, names in os.walk(folder):
        for name in sorted([*folders, *names]):
            path = Path(top, name)
            shown = path.relative_to(folder).as_posix()
            if path.is_symlink():
                yield Contents(shown, os.fsencode(os.readlink(path)))
            elif path.is_file():
                with path.open("rb") as file:
                    data = file.read(MOST_BYTES)
                yield Contents(shown, data, tuple(_rows(path)) if data.startswith(_SQLITE) else ())


def _rows(path: Path) -> Iterator[tuple[object, ...]]:
    """All rows of the tables of a database that the author's build wrote; what cannot be read is left out."""
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as db:
        db.text_factory = lambda data: data.decode("utf-8", "replace")
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
            yield from db.execute('SELECT * FROM "{}"'.format(table.replace('"', '""')))

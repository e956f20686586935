"""Which scenario folders have been checked whole before and not been touched since, so that collecting may take a short look only.

It decides when a mistake is told, at collection or when the item is set up, never whether: what runs is loaded and checked in any case.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from pytest_fdegym._version import __version__
from pytest_fdegym.results.files import write_whole


class InOrder:
    """Remembers folders between sessions: per folder one file in `cache`, which holds the state in which it was found in order."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache

    def holds(self, folder: Path) -> bool:
        """Whether `folder` was noted, and its files are the same in number, name, size and time."""
        try:
            return self._file(folder).read_text(encoding="ascii") == _state(folder)
        except (OSError, ValueError):
            return False

    def note(self, folder: Path) -> None:
        """Note that `folder` was found in order. A cache that cannot be written costs time, nothing else."""
        with contextlib.suppress(OSError):
            self._cache.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(self._file(folder), _state(folder))

    def _file(self, folder: Path) -> Path:
        return self._cache / hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:32]


def _state(folder: Path) -> str:
    digest = hashlib.sha256(__version__.encode())
    for name, status in _files(folder):
        digest.update(f"\0{name}\0{status.st_size}\0{status.st_mtime_ns}".encode(errors="surrogateescape"))
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    for entry in sorted(os.scandir(folder), key=lambda each: each.name):
        if entry.is_dir(follow_symlinks=False):
            if entry.name != "__pycache__":
                yield from ((f"{entry.name}/{name}", status) for name, status in _files(Path(entry.path)))
        else:
            yield entry.name, entry.stat(follow_symlinks=False)

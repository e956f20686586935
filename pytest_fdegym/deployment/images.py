"""The replayed files byte by byte: whether they hold the mirror's bytes, and copies of them, made without leaving a trace.

While the delivery lives, nothing may announce that its database is being read, or a thread of its own could put back in time what it
changed. So the files are read past SQLite: no lock is taken, no file beside them is touched, and their time of access stays.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

BESIDE = ("-wal", "-journal")
_CHUNK = 1 << 20
_LOG_HEADER, _FRAME_HEADER = 32, 24
_PAUSE = 0.01


class Unreadable(Exception):
    """The replayed file cannot be read; the message says why."""


def same_bytes(live: Path, mirror: Path) -> bool:
    """Whether the replayed file is the mirror byte for byte and has no journal beside it. Raises Unreadable if it is no file at all."""
    return not any(_size(beside(live, suffix)) for suffix in BESIDE) and _same_file(live, mirror)


def same_in_use(live: Path, mirror: Path) -> bool:
    """The same while both are open in WAL mode: their logs may differ in salts and checksums, which are drawn anew for each log.

    Raises Unreadable.
    """
    log, ours = beside(live, "-wal"), beside(mirror, "-wal")
    size = _size(log)
    if size is None or size != _size(ours) or _size(beside(live, "-journal")) != 0:
        return False
    return _same_file(live, mirror) and (size == 0 or _same_log(_whole(log), ours.read_bytes()))


def keep(live: Path, to: Path, seconds: float) -> int:
    """Copy a database in use, with its log or journal; returns the bytes. Raises Unreadable, also if it never rests for `seconds`.

    It is read twice: if neither time anything differs, all that was copied stood there in one moment between the two.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            if (size := _kept(live, to)) is not None:
                return size
            why = Unreadable("the database was written to without a pause")
        except Unreadable as unreadable:  # Perhaps its log came or went in this very moment.
            why = unreadable
        if time.monotonic() >= deadline:
            raise why
        time.sleep(_PAUSE)


def _kept(live: Path, to: Path) -> int | None:
    """The bytes that were copied, or None if something was written meanwhile."""
    pairs = [(live, to)]
    _copied(live, to)
    for suffix in BESIDE:
        source, target = beside(live, suffix), beside(to, suffix)
        target.unlink(missing_ok=True)
        if (size := _size(source)) is None:
            raise Unreadable("something that is no file stands in the place of its journal")
        if size:
            _copied(source, target)
        pairs.append((source, target))
    if not all(_same_file(source, target) if target.exists() else _size(source) == 0 for source, target in pairs):
        return None
    return sum(target.stat().st_size for _, target in pairs if target.exists())


def keep_own(mirror: Path, to: Path) -> None:
    """Copy the mirror, to which nobody but the caller writes."""
    shutil.copyfile(mirror, to)
    if (log := beside(mirror, "-wal")).exists():
        shutil.copyfile(log, beside(to, "-wal"))


def beside(path: Path, suffix: str) -> Path:
    """A file that SQLite keeps beside a database."""
    return Path(f"{path}{suffix}")


def _same_log(theirs: bytes, ours: bytes) -> bool:
    """Whether two write-ahead logs (https://sqlite.org/walformat.html) say the same about the same pages."""
    if len(theirs) != len(ours) or len(ours) < _LOG_HEADER or theirs[:12] != ours[:12]:
        return False
    step = _FRAME_HEADER + int.from_bytes(ours[8:12])
    return all(
        theirs[at : at + 8] == ours[at : at + 8]
        # Frames with other salts than the log's are left over from before it was begun anew.
        and (theirs[at + 8 : at + 16] == theirs[16:24]) == (ours[at + 8 : at + 16] == ours[16:24])
        and theirs[at + _FRAME_HEADER : at + step] == ours[at + _FRAME_HEADER : at + step]
        for at in range(_LOG_HEADER, len(ours), step)
    )


def _same_file(live: Path, ours: Path) -> bool:
    with _opened(live) as theirs, ours.open("rb", buffering=0) as own:
        if os.fstat(theirs.fileno()).st_size != os.fstat(own.fileno()).st_size:
            return False
        return all(mine == theirs.read(len(mine)) for mine in _chunks(own))


def _copied(source: Path, to: Path) -> None:
    with _opened(source) as theirs, to.open("wb", buffering=0) as copy:
        for chunk in _chunks(theirs):
            copy.write(chunk)


def _whole(path: Path) -> bytes:
    with _opened(path) as file:
        return file.read(os.fstat(file.fileno()).st_size)


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    left = os.fstat(file.fileno()).st_size  # What is appended meanwhile could have no end.
    while left > 0 and (chunk := file.read(min(left, _CHUNK))):
        left -= len(chunk)
        yield chunk


def _opened(path: Path) -> BinaryIO:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        try:
            handle = os.open(path, flags | getattr(os, "O_NOATIME", 0))
        except PermissionError:
            handle = os.open(path, flags)  # It may be the owner alone who may leave the time of access as it is.
    except FileNotFoundError:
        raise Unreadable("the database file is gone") from None
    except OSError:
        raise Unreadable("something that cannot be read stands in the place of the database file") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise Unreadable("something that is no file stands in the place of the database file")
    return open(handle, "rb", buffering=0)


def _size(path: Path) -> int | None:
    """Bytes of a regular file, 0 if there is none, None if something else stands there."""
    try:
        status = path.lstat()
    except OSError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else None

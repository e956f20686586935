"""Takes the delivery out of the workspace: what is deployed is a copy that nothing the agent left running can still change.

The workspace is hostile input. Only regular files are copied, no symbolic link is followed at any component, nothing is opened that
could block, and every bound that is reached ends the copying with a note.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

DEEPEST = 32
"""Folders below a deployed folder."""
LONGEST_PATH = 1000
"""Bytes of a relative path."""
CACHES = frozenset({"__pycache__"})
"""Left out without a word: Python writes them by itself, and code that nobody can read does not belong into a delivery."""

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Frozen:
    """A delivery as it was at handover."""

    root: Path
    """A folder of the harness's own, holding copies of the deployed folders (``root/"system"/...``)."""
    digest: str
    """sha256 over relative paths and contents in sorted order; mode bits and times do not count."""
    notes: tuple[str, ...]
    """Plain sentences about what was not taken over."""
    left_out: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Paths that were not taken over, by what they were: ``link``, ``special``, ``unreadable``, ``too_deep``, ``too_long``, ``unusual``."""


class _Full(Exception):
    """A bound is reached; the message says which."""


@dataclass
class _Copy:
    bytes_left: int
    files_left: int
    max_bytes: int
    max_files: int
    found: dict[bytes, bytes] = field(default_factory=dict)
    """Relative path -> digest of the content; folders end in a slash."""
    left_out: dict[str, list[str]] = field(default_factory=dict)
    unusual: Counter[str] = field(default_factory=Counter)

    def leave_out(self, kind: str, path: str) -> None:
        self.left_out.setdefault(kind, []).append(path)

    def count_entry(self, path: str) -> None:
        if self.files_left == 0:
            raise _Full(f"The delivery holds more than {self.max_files:,} files and folders; {path} and what follows were not taken over.")
        self.files_left -= 1


def freeze(workspace: Path, folders: Sequence[str], destination: Path, *, max_bytes: int = 64 << 20, max_files: int = 5000) -> Frozen:
    """Copy the deployed `folders` (relative, as in scenario.yaml) of `workspace` into `destination`, which must not exist yet.

    `max_bytes` bounds the bytes copied (a sparse file counts with its size), `max_files` the files and folders. Raises nothing for what
    the agent left; an OSError about `destination` or the root of the workspace is the harness's own trouble.
    """
    destination.mkdir(parents=True, mode=0o755)
    copy = _Copy(max_bytes, max_files, max_bytes, max_files)
    notes: list[str] = []
    with _opened(os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as source:
        for folder in _outermost(folders):
            try:
                _copy_deployed(source, folder, destination, copy, notes)
            except _Full as full:
                notes.append(str(full))
                break
    notes.extend(_left_out(copy))
    left_out = {**copy.left_out, "unusual": [f"{folder}/" for folder, count in copy.unusual.items() for _ in range(count)]}
    return Frozen(destination, _digest(copy.found), tuple(notes), left_out)


def _outermost(folders: Sequence[str]) -> list[str]:
    """The folders in order, without repetitions and without those that lie in another."""
    paths = sorted({PurePosixPath(folder) for folder in folders})
    return [str(path) for path in paths if not any(other in path.parents for other in paths)]


def _copy_deployed(source: int, folder: str, destination: Path, copy: _Copy, notes: list[str]) -> None:
    target = destination.joinpath(folder)
    with contextlib.ExitStack() as stack:
        here = source
        parts = PurePosixPath(folder).parts
        for depth, part in enumerate(parts, start=1):
            name = "/".join(parts[:depth])
            try:
                kind = os.stat(part, dir_fd=here, follow_symlinks=False).st_mode
                if not stat.S_ISDIR(kind):
                    notes.append(f"{name} is {_what(kind)}, not a folder; nothing of {folder}/ was deployed.")
                    return
                here = stack.enter_context(_opened(os.open(part, _READ | os.O_DIRECTORY, dir_fd=here)))
            except FileNotFoundError:
                notes.append(f"{folder}/ is missing.")
                return
            except OSError as error:
                notes.append(f"{name}/ could not be read ({os.strerror(error.errno or 0)}); nothing of {folder}/ was deployed.")
                return
        target.mkdir(parents=True, exist_ok=True)
        to = stack.enter_context(_opened(os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)))
        _copy_folder(here, to, folder, 0, copy)


def _copy_folder(source: int, target: int, relative: str, depth: int, copy: _Copy) -> None:
    copy.found[f"{relative}/".encode()] = b""
    try:
        # One more than is allowed in all: enough to see that the bound is passed, and a folder of millions costs nothing.
        with os.scandir(source) as entries:
            names = [entry.name for entry in itertools.islice(entries, copy.max_files + 1)]
    except OSError:
        copy.leave_out("unreadable", f"{relative}/")
        return
    if len(names) > copy.max_files:
        raise _Full(f"{relative}/ holds more than {copy.max_files:,} entries; it and what follows were not taken over.")
    for name in sorted(names, key=os.fsencode):
        if name in CACHES:
            continue
        if not _usual(name):
            copy.unusual[relative] += 1
            continue
        path = f"{relative}/{name}"
        if len(path.encode()) > LONGEST_PATH:
            copy.leave_out("too_long", relative)
            continue
        try:
            kind = os.stat(name, dir_fd=source, follow_symlinks=False).st_mode
        except OSError:
            copy.leave_out("unreadable", path)
            continue
        if stat.S_ISDIR(kind):
            if depth == DEEPEST:
                copy.leave_out("too_deep", path)
                continue
            copy.count_entry(f"{path}/")
            _copy_subfolder(source, target, name, path, depth, copy)
        elif stat.S_ISREG(kind):
            copy.count_entry(path)
            _copy_file(source, target, name, path, copy)
        else:
            copy.leave_out("link" if stat.S_ISLNK(kind) else "special", path)


def _copy_subfolder(source: int, target: int, name: str, path: str, depth: int, copy: _Copy) -> None:
    try:
        below = os.open(name, _READ | os.O_DIRECTORY, dir_fd=source)
    except OSError:
        copy.leave_out("unreadable", f"{path}/")
        return
    with _opened(below):
        os.mkdir(name, 0o755, dir_fd=target)
        with _opened(os.open(name, _READ | os.O_DIRECTORY, dir_fd=target)) as to:
            _copy_folder(below, to, path, depth + 1, copy)


def _copy_file(source: int, target: int, name: str, path: str, copy: _Copy) -> None:
    try:
        handle = os.open(name, _READ, dir_fd=source)
    except OSError:
        copy.leave_out("unreadable", path)
        return
    with _opened(handle):
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            copy.leave_out("special", path)
            return
        if status.st_size > copy.bytes_left:
            raise _Full(f"The delivery is larger than {copy.max_bytes:,} bytes; {path} and what follows were not taken over.")
        digest = hashlib.sha256()
        left = status.st_size
        with _opened(os.open(name, _WRITE, 0o644, dir_fd=target)) as to:
            while left:
                try:
                    chunk = os.read(handle, min(_CHUNK, left))
                except OSError:
                    chunk = b""
                if not chunk:
                    break
                left -= len(chunk)
                digest.update(chunk)
                _write(to, chunk)
        copy.bytes_left -= status.st_size
        copy.found[path.encode()] = digest.digest()


def _write(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


@contextlib.contextmanager
def _opened(handle: int) -> Iterator[int]:
    try:
        yield handle
    finally:
        os.close(handle)


def _usual(name: str) -> bool:
    """Whether a name is printable text; anything else could break a record, a patch or a terminal further on."""
    return name.isprintable()


def _what(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "a symbolic link"
    return "a file" if stat.S_ISREG(mode) else "a special file"


def _digest(found: dict[bytes, bytes]) -> str:
    digest = hashlib.sha256()
    for path in sorted(found):
        digest.update(b"%d:%b%d:%b" % (len(path), path, len(found[path]), found[path]))
    return digest.hexdigest()


_REASONS = {
    "link": ("symbolic link was", "symbolic links were"),
    "special": ("special file (no regular file, no folder) was", "special files (no regular files, no folders) were"),
    "unreadable": ("unreadable entry was", "unreadable entries were"),
    "too_deep": (f"folder deeper than {DEEPEST} levels was", f"folders deeper than {DEEPEST} levels were"),
    "too_long": (f"path longer than {LONGEST_PATH:,} bytes was", f"paths longer than {LONGEST_PATH:,} bytes were"),
}


def _left_out(copy: _Copy) -> Iterator[str]:
    for kind, (one, several) in _REASONS.items():
        paths = copy.left_out.get(kind, [])
        if not paths:
            continue
        shown = [path if len(path) <= 100 else path[:97] + "..." for path in paths[:3]]
        more = ", ..." if len(paths) > 3 else ""
        yield f"{len(paths):,} {one if len(paths) == 1 else several} left out: {', '.join(shown)}{more}"
    count = sum(copy.unusual.values())
    if count:
        where = ", ".join(f"{folder}/" for folder in sorted(copy.unusual)[:3])
        yield (
            f"{count:,} {'entry' if count == 1 else 'entries'} with a name that is not printable text "
            f"{'was' if count == 1 else 'were'} left out, in {where}"
        )

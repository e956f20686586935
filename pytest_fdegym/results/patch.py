"""A delivery as a patch against the system as found."""

from __future__ import annotations

import difflib
from pathlib import Path

SLOW_LINES = 2000
"""Beyond this many lines a changed file is shown as replaced: diffing may take quadratic time, and a delivery is hostile input."""
LARGEST_FILE = 1 << 20


def _files(root: Path) -> dict[str, Path]:
    return {path.relative_to(root).as_posix(): path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink()}


def _text(path: Path | None) -> list[str] | None:
    """The lines of a text file (none for a missing one), or None when it is binary or too large."""
    if path is None:
        return []
    if path.stat().st_size > LARGEST_FILE:
        return None
    data = path.read_bytes()
    try:
        return data.decode().splitlines(keepends=True) if b"\0" not in data else None
    except UnicodeDecodeError:
        return None


def _hunks(old: list[str], new: list[str], old_name: str, new_name: str) -> list[str]:
    if max(len(old), len(new)) <= SLOW_LINES:
        return list(difflib.unified_diff(old, new, old_name, new_name))
    head = f"@@ -{1 if old else 0},{len(old)} +{1 if new else 0},{len(new)} @@\n"
    return [f"--- {old_name}\n", f"+++ {new_name}\n", head, *("-" + line for line in old), *("+" + line for line in new)]


def delivery_patch(as_found: Path, delivered: Path) -> str:
    """A unified diff from one folder to the other; binary and very large files are named only.

    Both folders hold regular files only (frozen deliveries).
    """
    before, after = _files(as_found), _files(delivered)
    parts: list[str] = []
    for name in sorted(before.keys() | after.keys()):
        source, target = before.get(name), after.get(name)
        if source and target and source.stat().st_size == target.stat().st_size and source.read_bytes() == target.read_bytes():
            continue
        shown = name.encode("utf-8", "backslashreplace").decode().replace("\n", "\\n")
        old, new = _text(source), _text(target)
        old_name = f"a/{shown}" if source else "/dev/null"
        new_name = f"b/{shown}" if target else "/dev/null"
        if old is None or new is None:
            parts.append(f"Binary files {old_name} and {new_name} differ\n")
            continue
        for line in _hunks(old, new, old_name, new_name):
            parts.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(parts)

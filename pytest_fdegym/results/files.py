"""Writing a file so that a reader finds the old one or the new one, never a part."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write `text` so that a reader finds the old file or the new one, never a part. Raises OSError."""
    with staged(path, text) as ready:
        os.replace(ready, path)


@contextlib.contextmanager
def staged(path: Path, content: str | bytes) -> Iterator[Path]:
    """A file beside `path` that holds `content`, safe on the disk: what is left is to rename it. Not renamed, it goes away.

    Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=prefix_of(path))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        yield Path(name)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


def prefix_of(path: Path) -> str:
    """How the names begin of what a killed process left of writing `path`."""
    return f".{path.name}."

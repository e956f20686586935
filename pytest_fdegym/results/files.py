"""Writing a file so that a reader finds the old one or the new one, never a part."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path


def write_whole(path: Path, text: str, *, shared: bool = False) -> None:
    """Write `text` so that a reader finds the old file or the new one, never a part. Raises OSError.

    `shared` says that it is for others than this user too (to be committed, uploaded, mailed), as far as the umask lets them read.
    """
    with staged(path, text, shared=shared) as ready:
        os.replace(ready, path)


@contextlib.contextmanager
def staged(path: Path, content: str | bytes, *, shared: bool = False) -> Iterator[Path]:
    """A file beside `path` that holds `content`, safe on the disk: what is left is to rename it. Not renamed, it goes away.

    `shared` as in `write_whole`. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=prefix_of(path))
    if shared:  # made anew, since the umask cannot be read without being changed for other threads
        os.close(handle)
        os.unlink(name)
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
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

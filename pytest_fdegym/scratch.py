"""Folders of the harness's own in which others may write, and that go away whatever was left in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def remove_tree(path: Path) -> None:
    """Remove a folder that somebody hostile may have filled: very deep, unreadable, with any names. Never raises, follows no link.

    What cannot be removed even so (another user's files, where the harness is not root) is left.
    """
    if not os.path.lexists(path):
        return
    try:
        shutil.rmtree(path)
    except (OSError, RecursionError):
        # The tools of the system go down by descriptor, however deep, and need no permission that the owner can give himself.
        for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            subprocess.run([*command, "--", str(path)], stdin=subprocess.DEVNULL, capture_output=True, check=False)


@contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """A new folder with a short path (a unix socket's may not exceed 104 bytes), which the sandboxed user can pass through, not list."""
    # Real, for paths are compared: where temporary files live is often reached by a link.
    path = Path(os.path.realpath(tempfile.mkdtemp(prefix=prefix)))
    path.chmod(0o711)
    try:
        yield path
    finally:
        remove_tree(path)

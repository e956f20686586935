"""Folders of the harness's own in which others may write, and that go away whatever was left in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LONGEST = 64
"""Bytes of the path that a scratch folder lies in: leaves 40 for the folder and a socket in it."""


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


def new_scratch(prefix: str) -> Path:
    """A new folder with a short path (a unix socket's may not exceed 104 bytes), which the sandboxed user can pass through, not list.

    It lies where temporary files do, or in the machine's own place for them where TMPDIR is too deep for sockets.
    """
    # Real, for paths are compared: where temporary files live is often reached by a link.
    usual = os.path.realpath(tempfile.gettempdir())
    places = (usual, *(os.path.realpath(each) for each in ("/tmp", "/var/tmp")))
    short = (each for each in places if len(os.fsencode(each)) <= _LONGEST and os.access(each, os.W_OK | os.X_OK))
    path = Path(tempfile.mkdtemp(prefix=prefix, dir=next(short, usual)))
    path.chmod(0o711)
    return path


@contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """A `new_scratch` that goes away with the context, whatever is in it."""
    path = new_scratch(prefix)
    try:
        yield path
    finally:
        remove_tree(path)

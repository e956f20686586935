"""A lock on one run in a store, so that two sessions do not run the same thing twice. The kernel releases it when its process dies.

POSIX record locks: a process that an agent forked does not inherit them, and they hold across machines on NFS where its lock service
runs. Within one process they exclude nobody; a session does one run at a time.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path


class Claimed(Exception):
    """Another process has the lock; the text says which."""


@contextlib.contextmanager
def claim(path: Path, *, wait: bool) -> Iterator[None]:
    """Hold the lock in the file `path`, which is made and goes away again. Waits for another process's, or raises Claimed.

    A folder that cannot be written and a file system without locks exclude nobody: a run must not fail for them.
    """
    handle = _taken(path, wait)
    try:
        yield
    finally:
        if handle is not None:
            with contextlib.suppress(OSError):
                path.unlink()  # before the lock goes with the handle; whoever waits for it looks again
            os.close(handle)


def _taken(path: Path, wait: bool) -> int | None:
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError:
            return None
        try:
            fcntl.lockf(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except (BlockingIOError, PermissionError):
            holder = os.pread(handle, 200, 0).decode(errors="replace").strip()
            os.close(handle)
            raise Claimed(holder or "a process") from None
        except OSError:
            os.close(handle)
            return None
        except BaseException:
            os.close(handle)
            raise
        if _in_place(handle, path):
            with contextlib.suppress(OSError):
                os.ftruncate(handle, 0)
                os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
            return handle
        os.close(handle)  # its holder has removed it meanwhile


def _in_place(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError:
        return False

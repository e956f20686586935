"""Watches what a replay writes to disk, cheaply: folders are only counted once the disk has become fuller."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


class DiskWatch:
    """Bounds the bytes and files that folders gain. Others use the same disk, so its own figures are a hint and no more."""

    def __init__(self, folders: Sequence[Path], most_bytes: int, most_files: int) -> None:
        self._folders = folders
        self._most_bytes, self._most_files = most_bytes, most_files
        self._free_bytes, self._free_files = self._free()

    def excess(self) -> str | None:
        """Which bound is passed, in words, or None."""
        free_bytes, free_files = self._free()
        if free_bytes > self._free_bytes - self._most_bytes and free_files > self._free_files - self._most_files:
            return None
        size, files = self._used()
        if size > self._most_bytes:
            return f"it wrote more than {self._most_bytes:,} bytes to disk"
        if files > self._most_files:
            return f"it left more than {self._most_files:,} files"
        return None

    def _free(self) -> tuple[int, int]:
        status = os.statvfs(self._folders[0])
        return status.f_bavail * status.f_frsize, status.f_favail

    def _used(self) -> tuple[int, int]:
        """Bytes and entries below the folders; the count ends where a bound is passed."""
        size = files = 0
        waiting = [str(folder) for folder in self._folders]
        while waiting and size <= self._most_bytes and files <= self._most_files:
            try:
                with os.scandir(waiting.pop()) as entries:
                    for entry in entries:
                        files += 1
                        if files > self._most_files:
                            break
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
                        else:
                            size += 512 * entry.stat(follow_symlinks=False).st_blocks
            except OSError:
                continue  # Gone meanwhile, or made unreadable.
        return size, files

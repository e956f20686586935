"""The file tools of an agent that works from outside of the sandbox: regular files of the workspace, and nothing that lies elsewhere."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pytest_fdegym.errors import FdeGymError

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class OutsideWorkspace(FdeGymError):
    """A file tool was asked for a path that leads out of the workspace."""


class WorkspaceFiles:
    """Files below `root`, named by paths relative to it.

    Commands of the agent may change the workspace at the same moment. So a path is first resolved (a link to a place inside is fine), and
    then opened folder by folder without following any link: what has been exchanged for a link meanwhile is refused.
    """

    def __init__(self, root: Path, give: Callable[[Path], None], refused: Callable[[str], None] = lambda _: None) -> None:
        """`give` makes a new file or folder writable to the sandboxed user; `refused` hears of paths that lead out of the workspace."""
        self._refused = refused
        self._root = root
        self._give = give

    def list_files(self, folder: str = ".") -> list[str]:
        """Paths of the regular files below a folder, sorted, relative to the workspace."""
        found = self._inside(folder).rglob("*")
        return sorted(str(path.relative_to(self._root.resolve())) for path in found if path.is_file() and not path.is_symlink())

    def list_folder(self, folder: str = ".") -> list[str]:
        """Names in one folder, sorted, those of folders with a slash at the end. Raises OSError if it is none."""
        target = self._inside(folder)
        with self._told_of(target), contextlib.ExitStack() as stack:
            entries = stack.enter_context(os.scandir(self._folder(stack, target.relative_to(self._root.resolve()).parts)))
            return sorted(f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name for entry in entries)

    def read_text(self, path: str, *, most_bytes: int | None = None) -> str:
        """The text of a regular file (UTF-8, undecodable bytes replaced).

        Raises OSError for anything else, and for a file that has more than `most_bytes`.
        """
        with self._opened(path, os.O_RDONLY) as file:
            data = file.read() if most_bytes is None else file.read(most_bytes + 1)
        if most_bytes is not None and len(data) > most_bytes:
            raise OSError(errno.EFBIG, f"larger than {most_bytes:,} bytes", path)
        return data.decode("utf-8", "replace")

    def write_text(self, path: str, text: str) -> None:
        """Write a regular file, making its folders. Raises OSError where that cannot be done."""
        target = self._inside(path)
        made = [folder for folder in target.parents if not folder.exists()]
        with self._opened(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as file:
            file.write(text.encode("utf-8", "surrogateescape"))
        self._give(made[-1] if made else target)

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace the one place where `old` stands in a file. Raises ValueError when it stands nowhere or more than once."""
        text = self.read_text(path)
        if (count := text.count(old)) != 1:
            raise ValueError(f"{path}: the text to replace stands there {count} times; exactly once is expected")
        self.write_text(path, text.replace(old, new))

    def _inside(self, path: str) -> Path:
        target = (self._root / path).resolve()
        if not target.is_relative_to(self._root.resolve()):
            self._refused(path)
            raise OutsideWorkspace(f"{path!r} leads out of the workspace")
        return target

    def _opened(self, path: str, flags: int) -> io.FileIO:
        """Open a regular file and nothing else: a pipe or a device that waits for somebody is refused at once."""
        target = self._inside(path)
        parts = target.relative_to(self._root.resolve()).parts
        with self._told_of(target), contextlib.ExitStack() as stack:
            here = self._folder(stack, parts[:-1], make=bool(flags & os.O_CREAT))
            name = parts[-1] if parts else "."
            handle = os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644, dir_fd=here)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise OSError(errno.EINVAL, "not a regular file", str(target))
        return io.FileIO(handle, "r" if flags == os.O_RDONLY else "w")

    def _folder(self, stack: contextlib.ExitStack, parts: Sequence[str], *, make: bool = False) -> int:
        """A handle of the folder that the names lead to, each a real folder in the one before; `stack` closes it."""
        here = os.open(self._root.resolve(), _FOLDER)
        stack.callback(os.close, here)
        for part in parts:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=here)
            here = os.open(part, _FOLDER, dir_fd=here)
            stack.callback(os.close, here)
        return here

    @contextlib.contextmanager
    def _told_of(self, target: Path) -> Iterator[None]:
        """Errors name the whole path, not the part at which it broke off."""
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(target)) from None

"""A ``python3`` that finds its standard library and no installed package, for sandboxes that cannot change what the file system shows."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path

from pytest_fdegym.errors import SandboxFault
from pytest_fdegym.sandbox import machine
from pytest_fdegym.sandbox.account import Account, closed_ancestor

_NOT_COPIED = (
    "site-packages",
    "dist-packages",
    "test",
    "tests",
    "idlelib",
    "turtledemo",
    "tkinter",
    "ensurepip",
    "lib2to3",
    "config-*",
    "*.a",
)
_LIBRARIES = (
    *("python", "crypto", "ssl", "sqlite3", "ffi", "z", "lzma", "bz2", "expat", "ncursesw", "ncurses"),
    *("tinfow", "tinfo", "readline", "uuid", "gcc_s", "stdc++", "intl", "mpdec"),
)


def temporary_folder(prefix: str, account: Account | None) -> Path:
    """Create a folder that the account can reach; it is the caller's to remove. Raises InfrastructureFault if there is no place for one."""
    tried = []
    for place in dict.fromkeys((tempfile.gettempdir(), "/tmp", "/var/tmp")):
        parent = Path(os.path.realpath(place))
        barred = closed_ancestor(parent / "x", account) if parent.is_dir() else parent
        if barred is None:
            return Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        tried.append(f"{parent} ({barred} is closed)")
    raise SandboxFault(f"no temporary folder that the sandbox's user can reach: {', '.join(tried)}")


class BarePython:
    """A folder with ``bin/python3``: an empty virtual environment, or a copy where the interpreter cannot be reached."""

    def __init__(self, account: Account | None) -> None:
        """Raises InfrastructureFault if there is no interpreter or no place for the folder. It is removed with this object."""
        original = machine.interpreter()
        home = temporary_folder("fdegym-python-", account)
        self._finalizer = weakref.finalize(self, _remove, home, os.getpid())
        home.chmod(0o755)
        self.programs = home / "bin"
        """What belongs first on PATH."""
        self.programs.mkdir()
        self.environment: Mapping[str, str] = {}
        """What it needs to start."""
        if closed_ancestor(original.program, account) is None:
            (home / "pyvenv.cfg").write_text(f"home = {original.program.parent}\ninclude-system-site-packages = false\n", encoding="utf-8")
            (self.programs / "python3").symlink_to(original.program)
            self.folders = (home, *original.folders)
        else:
            self.environment = _copy(original, home)
            self.folders = (home,)
        (self.programs / "python").symlink_to("python3")


def _copy(original: machine.Interpreter, home: Path) -> dict[str, str]:
    """Copy program and standard library: a user without rights cannot be led past a closed folder such as /root."""
    prefix = original.program.parent.parent
    shutil.copy2(original.program, home / "bin" / "python3")
    for folder in ("lib", "lib64"):
        source = prefix / folder
        if source.is_symlink() or not source.is_dir():
            continue
        (home / folder).mkdir()
        if (source / original.version).is_dir():
            shutil.copytree(source / original.version, home / folder / original.version, ignore=shutil.ignore_patterns(*_NOT_COPIED))
        for name in _LIBRARIES:
            for library in source.glob(f"lib{name}*.so*"):
                shutil.copy2(library, home / folder / library.name)
    return {"LD_LIBRARY_PATH": str(home / "lib")} if any((home / "lib").glob("*.so*")) else {}


def _remove(home: Path, owner: int) -> None:
    if os.getpid() == owner:  # not in a forked child
        shutil.rmtree(home, ignore_errors=True)

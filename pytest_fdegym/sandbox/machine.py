"""What a confined process finds of the machine: the system's programs and libraries, and Python with its standard library only."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_fdegym.errors import SandboxFault
from pytest_fdegym.sandbox.base import Layout

SYSTEM = tuple(Path(path) for path in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"))
"""On most systems all but the first are links into it."""
SETTINGS = tuple(Path("/etc", name) for name in ("ld.so.cache", "localtime", "alternatives"))
"""All that is seen of /etc as it is: the linker's list, the time zone, and what Debian's program names point to."""
_PACKAGE_FOLDERS = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Interpreter:
    """The Python that runs the harness, without what is installed for it."""

    program: Path
    folders: tuple[Path, ...]
    """What must be readable for it to run, beyond SYSTEM."""

    @property
    def version(self) -> str:
        return f"python{sys.version_info.major}.{sys.version_info.minor}"


def interpreter() -> Interpreter:
    """Return the interpreter below any virtual environment. Raises InfrastructureFault if its program is not where its prefix says."""
    base = Path(sys.base_prefix)
    names = (f"python{sys.version_info.major}.{sys.version_info.minor}", "python3", "python")
    program = next((base / "bin" / name for name in names if (base / "bin" / name).is_file()), None)
    if program is None:
        raise SandboxFault(f"no python3 under {base / 'bin'}, where the interpreter that runs pytest says it is installed")
    folders = () if _under(base, SYSTEM) else tuple(base / name for name in ("bin", "lib", "lib64") if (base / name).is_dir())
    return Interpreter(program, folders)


def package_folders(roots: Iterable[Path]) -> list[Path]:
    """Return the folders under `roots` where any version of Python keeps installed packages."""
    found = set[Path]()
    for root in (root for root in roots if not root.is_symlink()):
        for library in (root, root / "lib", root / "lib64", root / "local/lib", root / "local/lib64"):
            for name in _PACKAGE_FOLDERS:
                found.update(folder for folder in library.glob(f"python*/{name}") if folder.is_dir())
    return sorted(found)


def environment(layout: Layout, programs: Path, temporary: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the whole environment of a confined process; `programs` is the folder where ``python3`` stands."""
    path = ":".join(map(str, dict.fromkeys((*layout.programs, programs, Path("/usr/bin"), Path("/bin")))))
    own = {"PATH": path, "HOME": temporary, "LANG": "C.UTF-8", "TMPDIR": temporary}
    return {**own, **(extra or {}), **layout.environment}


@dataclass(frozen=True)
class Grant:
    """One path of a layout and what may be done there."""

    path: Path
    writable: bool


def grants(layout: Layout) -> list[Grant]:
    """Return what the layout opens, outermost first, so that an inner grant is applied after the one around it.

    The working directory is readable, and writable where it is or lies in a writable path. Raises InfrastructureFault for a path
    that does not exist, is not absolute, or that leads through a symbolic link inside a writable path: confined code could have
    put it there to be let out.
    """
    writable = {_checked(path) for path in layout.writable}
    readable = {_checked(path) for path in layout.readable} - writable
    if layout.sockets is not None:
        readable.add(_checked(layout.sockets))
    workdir = _checked(layout.workdir)
    if not _under(workdir, (*writable, *readable)):
        readable.add(workdir)
    found = [Grant(path, True) for path in writable] + [Grant(path, False) for path in readable]
    for grant in found:
        for outer in writable:
            if outer in grant.path.parents:
                _refuse_links(grant.path, outer)
    return sorted(found, key=lambda grant: (len(grant.path.parts), grant.path))


def _checked(path: Path) -> Path:
    if not path.is_absolute():
        raise SandboxFault(f"the sandbox was given {str(path)!r}, which is not an absolute path")
    path = Path(os.path.normpath(path))
    if not path.exists():
        raise SandboxFault(f"the sandbox was given {path}, which does not exist")
    return path


def _refuse_links(path: Path, outer: Path) -> None:
    for part in (path, *path.parents):
        if part == outer:
            return
        if part.is_symlink():
            raise SandboxFault(f"{part} is a symbolic link inside the writable folder {outer}; the sandbox does not follow it")


def _under(path: Path, roots: Iterable[Path]) -> bool:
    return any(root == path or root in path.parents for root in roots)

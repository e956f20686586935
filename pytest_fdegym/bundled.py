"""Where the bundled tasks are: in a source checkout its tasks/, otherwise an archive of the wheel, unpacked once into a cache."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from pytest_fdegym.errors import InfrastructureFault

TASKS = "tasks"
ARCHIVE = "tasks.zip"
_PACKAGE = Path(__file__).parent


def cache_folder(environment: dict[str, str] | None = None) -> Path:
    """The user's cache folder for this package; not made. `environment` stands in for os.environ."""
    variables = os.environ if environment is None else environment
    if given := variables.get("XDG_CACHE_HOME"):
        base = Path(given)
    else:
        home = Path(variables.get("HOME") or tempfile.gettempdir())
        base = home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"
    return base / "pytest-fdegym"


def bundled_tasks() -> Path:
    """The folder ``tasks`` that holds the bundled scenarios, one folder each.

    Raises InfrastructureFault if the package holds no tasks, or none can be unpacked anywhere.
    """
    archive = _PACKAGE / ARCHIVE
    if archive.is_file():
        return unpacked(archive, (cache_folder(), _private_fallback()))
    checkout = _PACKAGE.parent / TASKS
    if checkout.is_dir():
        return checkout
    raise InfrastructureFault(f"this installation holds no bundled tasks: neither {archive} nor {checkout} exists")


def shipped_tasks() -> Path | None:
    """Where the tasks are that were checked before they were shipped: `bundled_tasks`, None in a source checkout, where they are written.

    Raises InfrastructureFault as `bundled_tasks` does.
    """
    return bundled_tasks() if (_PACKAGE / ARCHIVE).is_file() else None


def unpacked(archive: Path, places: tuple[Path, ...]) -> Path:
    """Unpack `archive` into the first of `places` that can be written, unless it was before; returns its folder ``tasks``.

    The folder is named after the archive's digest and appears whole, so that several processes may do this at once. Raises
    InfrastructureFault if no place can be written.
    """
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()[:16]
    causes = []
    for place in places:
        target = place / f"tasks-{digest}"
        try:
            _ensure(archive, target)
        except OSError as error:
            causes.append(f"{target}: {error.strerror or error}")
        else:
            return target / TASKS
    raise InfrastructureFault(
        f"the bundled tasks cannot be unpacked ({'; '.join(causes)}); set XDG_CACHE_HOME to a folder that can be written"
    )


def _ensure(archive: Path, target: Path) -> None:
    with zipfile.ZipFile(archive) as content:
        if _is_whole(content, target):
            return
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with _scratch(target.parent) as scratch:
            content.extractall(scratch / "new")
            if target.exists():  # something was taken out of it: put aside, not repaired in place
                target.rename(scratch / "old")
            try:
                (scratch / "new").rename(target)
            except OSError:
                if not _is_whole(content, target):  # otherwise another process was faster
                    raise


def _is_whole(content: zipfile.ZipFile, target: Path) -> bool:
    """Whether every file of the archive is there in its size; ours, and nobody else's to write."""
    try:
        status = target.lstat()
        if hasattr(os, "getuid") and status.st_uid != os.getuid():
            return False
        return all((target / member.filename).stat().st_size == member.file_size for member in content.infolist() if not member.is_dir())
    except OSError:
        return False


@contextlib.contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=folder))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _private_fallback() -> Path:
    """A folder of this user's below the temporary folder, for those whose home cannot be written."""
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"pytest-fdegym-{user}"

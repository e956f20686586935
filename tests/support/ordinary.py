"""Runs Python with this checkout as somebody ordinary, a user without rights, or as root, and as in a container if need be."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.sandbox.people import ORDINARY

_CHECKOUT = Path(__file__).parents[2]
_PARTS = ("pytest_fdegym", "tests", "tasks", "pyproject.toml")
_VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
_CONTAINER = Path(__file__).with_name("container.py")
_PACKAGES = Path(pytest.__file__).parents[1]


def run_python(user: str, folder: Path, *arguments: str, in_container: bool = False) -> subprocess.CompletedProcess[str]:
    """Run ``python ARGUMENTS`` in `folder` as ``root`` or as somebody ``ordinary``, whose the folder becomes; in it are home and
    temporary folder. The checkout is on the path. Skips the test where this process cannot be that user.
    """
    root = os.geteuid() == 0
    if user == "root" and not root:
        pytest.skip("needs root")
    options: dict[str, object] = {}
    checkout, python = _CHECKOUT, sys.executable
    if user == "ordinary" and root:
        options = {"user": ORDINARY, "group": ORDINARY, "extra_groups": []}
        checkout, python = checkout_for_everybody(), _python_for_everybody()
    for name in ("home", "tmp"):
        (folder / name).mkdir(exist_ok=True)
    if user == "ordinary" and root:
        _given_to(ORDINARY, folder)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "PYTHONPATH": os.pathsep.join((str(checkout), str(_PACKAGES))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    launcher = [python, str(checkout / _CONTAINER.relative_to(_CHECKOUT))] if in_container else []
    command = [*launcher, python, *arguments]
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=1800, **options)  # type: ignore[call-overload, no-any-return]  # options are of mixed types


def _given_to(user: int, folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user, user, follow_symlinks=False)


@functools.cache
def checkout_for_everybody() -> Path:
    """A copy of the checkout that any user can read, since one often lies in somebody's home."""
    copy = Path(tempfile.mkdtemp(prefix="fdegym-checkout-"))
    atexit.register(shutil.rmtree, copy, ignore_errors=True)
    for name in _PARTS:
        source = _CHECKOUT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"), symlinks=True)
        else:
            shutil.copy(source, copy / name)
    for path in (copy, *copy.rglob("*")):
        path.chmod(path.stat().st_mode | (0o755 if path.is_dir() else 0o644))
    return copy


@functools.cache
def _python_for_everybody() -> str:
    """This Python if somebody ordinary can start it, else one of the system's of the same version, with the packages of this one."""
    for candidate in (sys.executable, f"/usr/local/bin/{_VERSION}", f"/usr/bin/{_VERSION}"):
        try:
            done = subprocess.run(
                [candidate, "-c", "import pytest, pydantic, yaml, jinja2"],
                env={"PYTHONPATH": str(_PACKAGES)},
                user=ORDINARY,
                group=ORDINARY,
                extra_groups=[],
                cwd="/",
                check=False,
                capture_output=True,
            )
        except OSError:
            continue
        if done.returncode == 0:
            return candidate
    pytest.skip(f"no {_VERSION} that an ordinary user can start with the packages in {_PACKAGES}")

"""The users as whom tests run a harness: root, and somebody ordinary."""

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

import pytest_fdegym

ORDINARY = 12345
"""An id that no account has."""
USERS = ("root", "ordinary")


_LACKING = (
    "no bwrap on PATH",
    "the kernel offers Landlock",
    "it is part of macOS",
    "Operation not permitted",
    "No permissions to create",
    "setting up uid map: Permission denied",
)
"""What a refusal says on machines that cannot have a sandbox. Any other is a defect, and must not skip the tests that show it."""


def skip_if_lacking(refusal: str) -> None:
    """Skip the test if the machine cannot have the sandbox, fail it if the sandbox is broken."""
    if any(reason in refusal for reason in _LACKING):
        pytest.skip(refusal)
    pytest.fail(refusal)


def run_as(user: str, script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a Python script that imports this package as `user`; skips the test where this process cannot be that user."""
    root = os.geteuid() == 0
    if user == "root" and not root:
        pytest.skip("needs root")
    environment = {"PATH": os.environ["PATH"], "FDEGYM_SECRET": "key", "PYTEST_CURRENT_TEST": "x", "PYTHONDONTWRITEBYTECODE": "1"}
    if user == "ordinary" and root:
        python, library = _python_for_everybody(), _library_for_everybody()
        options: dict[str, object] = {"user": ORDINARY, "group": ORDINARY, "extra_groups": []}
        script = Path(shutil.copy(script, library / script.name))
        shutil.copy(Path(__file__).with_name("probes.py"), library)
    else:
        python, library, options = sys.executable, Path(pytest_fdegym.__file__).parents[1], {}
    environment["PYTHONPATH"] = str(library)
    command = [python, str(script), *arguments]
    return subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=False, timeout=300, **options)  # type: ignore[call-overload, no-any-return] # options are of mixed types


@functools.cache
def _library_for_everybody() -> Path:
    """A copy of the package where any user can read it, since a checkout often lies in somebody's home."""
    library = Path(tempfile.mkdtemp(prefix="fdegym-library-"))
    atexit.register(shutil.rmtree, library, ignore_errors=True)
    library.chmod(0o755)
    source = Path(pytest_fdegym.__file__).parent
    target = library / "pytest_fdegym"
    target.mkdir(mode=0o755)
    for name in ("__init__.py", "_version.py", "errors.py", "scratch.py"):
        shutil.copy(source / name, target / name)
    shutil.copytree(source / "sandbox", target / "sandbox", ignore=shutil.ignore_patterns("__pycache__"))
    return library


@functools.cache
def _python_for_everybody() -> str:
    """This Python if an ordinary user can start it, else one of the system's."""
    version = "import sys; sys.exit(sys.version_info < (3, 11))"
    for candidate in (sys.executable, "/usr/local/bin/python3", "/usr/bin/python3"):
        try:
            done = subprocess.run(
                [candidate, "-c", version], user=ORDINARY, group=ORDINARY, extra_groups=[], cwd="/", check=False, capture_output=True
            )
        except OSError:
            continue
        if done.returncode == 0:
            return candidate
    pytest.skip("no Python 3.11 or later that an ordinary user can start")

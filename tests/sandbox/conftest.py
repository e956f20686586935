"""The sandboxes of this machine, and places that each of them can use."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fdegym.errors import SandboxUnavailable
from pytest_fdegym.sandbox import Layout, Sandbox, choose
from tests.sandbox.people import skip_if_lacking


@pytest.fixture(params=["bubblewrap", "landlock", "sandbox-exec", "none"])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Each sandbox in turn; the test is skipped for those that do not work on this machine."""
    try:
        return choose(request.param)
    except SandboxUnavailable as error:
        skip_if_lacking(str(error).splitlines()[1].strip())
        raise


@pytest.fixture(params=["bubblewrap", "landlock", "sandbox-exec"])
def confining(request: pytest.FixtureRequest) -> Sandbox:
    """Each sandbox that keeps anything from the code that runs."""
    try:
        return choose(request.param)
    except SandboxUnavailable as error:
        skip_if_lacking(str(error).splitlines()[1].strip())
        raise


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that any user may pass through; pytest's own are closed to all but one."""
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="fdegym-test-")))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def workdir(place: Path) -> Path:
    folder = place / "workdir"
    folder.mkdir()
    return folder


@pytest.fixture
def layout(sandbox: Sandbox, workdir: Path) -> Layout:
    """A writable working directory, given to the sandbox."""
    sandbox.give(workdir)
    return Layout(workdir=workdir, writable=(workdir,))

"""A project with a scaffolded scenario, and the command line in this process."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_fdegym.cli import main
from pytest_fdegym.commands.new import write_scaffold

Fdegym = Callable[..., tuple[int, str, str]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, with a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    return tmp_path


@pytest.fixture
def demo(project: Path) -> Path:
    """The folder ``tasks/demo`` as `fdegym new demo` writes it."""
    return write_scaffold("demo", project / "tasks")


@pytest.fixture
def fdegym(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Fdegym:
    """``fdegym("routing", "demo")`` gives exit code, output and errors; ``stdin=`` is piped in."""

    def run(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin))
        code = main(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return run

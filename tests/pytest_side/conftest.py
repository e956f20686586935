"""A project with a tiny task in it, in which pytest is run."""

from __future__ import annotations

from pathlib import Path

import pytest

import pytest_fdegym.pytest_side.activation  # noqa: F401  (kept between runs in this process, which pytester would load anew)
from tests.support.tiny_scenario import write_tiny_scenario


@pytest.fixture(scope="session")
def _kpis(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _cache(_kpis: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(_kpis))


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project whose only task folder is ``tasks/tiny_post`` (variants v1 and v2)."""
    pytester.makeini("[pytest]\naddopts = --strict-markers --fde-tasks=tasks\n")
    write_tiny_scenario(pytester.path / "tasks" / "tiny_post")
    return pytester


@pytest.fixture
def bundle(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands in for the bundled tasks; runs have to be in this process."""
    folder = tmp_path_factory.mktemp("installed") / "tasks"
    write_tiny_scenario(folder / "tiny_post")
    monkeypatch.setattr("pytest_fdegym.pytest_side.collection.bundled_tasks", lambda: folder)
    return folder

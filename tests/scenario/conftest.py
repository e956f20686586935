"""The tiny scenario in a folder of its own, below the working directory, so that messages name `tiny_post/...`."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fdegym.scenario.loader import Scenario, load
from tests.support.tiny_scenario import write_tiny_scenario


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a valid scenario, to be broken by the test."""
    monkeypatch.chdir(tmp_path)
    return write_tiny_scenario(tmp_path / "tiny_post")


@pytest.fixture
def scenario(tiny: Path) -> Scenario:
    """The scenario, loaded."""
    return load(tiny)

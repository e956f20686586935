"""A tiny scenario to admit, and a session to do it in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fdegym.settings import Settings
from tests.support.settings import session
from tests.support.tiny_scenario import write_tiny_scenario


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    with session(tmp_path / "unused", store=None) as settings:
        yield settings


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_tiny_scenario(tmp_path / "tiny_post")

"""A tiny scenario and a session, made once a module."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fdegym.runner import Case, Settings
from pytest_fdegym.scenario.loader import load
from tests.support.settings import session
from tests.support.tiny_scenario import write_tiny_scenario


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with session(tmp_path_factory.mktemp("results")) as settings:
        yield settings


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    folder: Path = write_tiny_scenario(tmp_path_factory.mktemp("tasks") / "tiny_post")
    return Case(load(folder), "v1", "L3")

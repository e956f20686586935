"""A customer with an LLM gateway and trial runs, and a session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fdegym.runner import Case, Settings
from pytest_fdegym.scenario.loader import load
from tests.support.settings import session
from tests.support.tiny_gateway import write_tiny_gateway


@pytest.fixture(scope="package")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with session(tmp_path_factory.mktemp("results")) as settings:
        yield settings


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_gateway(tmp_path_factory.mktemp("tasks") / "tiny_post")


@pytest.fixture(scope="package")
def case(folder: Path) -> Case:
    return Case(load(folder), "v1", "L3")

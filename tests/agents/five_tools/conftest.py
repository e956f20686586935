"""A tiny task, and whole runs of the five-tool agent on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_fdegym.agents.five_tools.agent import FiveToolAgent
from pytest_fdegym.observer import Observer
from pytest_fdegym.results.record import Record
from pytest_fdegym.runner import Case, Settings, run
from pytest_fdegym.scenario.loader import load
from tests.agents.five_tools.models import Script
from tests.support.settings import python_agent, session
from tests.support.tiny_scenario import write_tiny_scenario


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with session(tmp_path_factory.mktemp("results"), cache=tmp_path_factory.mktemp("kpis")) as settings:
        yield settings


@pytest.fixture(scope="session")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(load(write_tiny_scenario(tmp_path_factory.mktemp("tasks") / "tiny_post")), "v1", "L3")


@pytest.fixture
def deliver(case: Case, settings: Settings) -> Callable[..., Record]:
    """Run the agent on a scripted model; keyword arguments are the agent's."""

    def deliver(script: Script, observer: Observer | None = None, **options: Any) -> Record:
        return run(case, python_agent(FiveToolAgent(script.model, **options)), settings, observer)

    return deliver


@pytest.fixture
def patch_of(settings: Settings) -> Callable[[Record], str]:
    """What a run changed in the delivered folders."""

    def patch_of(record: Record) -> str:
        assert settings.store is not None
        return Path(settings.store.paths(record).patch).read_text()

    return patch_of

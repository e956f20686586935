"""The bundled scenario, a tiny one that no example knows, and the examples as users name them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fdegym.agents.loading import load as load_agent
from pytest_fdegym.agents.python import Agent, PythonAgent
from pytest_fdegym.agents.resolve import parse
from pytest_fdegym.bundled import bundled_tasks
from pytest_fdegym.results.record import AgentIdentity
from pytest_fdegym.runner import Case, Settings
from pytest_fdegym.scenario.loader import load
from pytest_fdegym.scenario.scenario import Scenario
from tests.support.settings import session
from tests.support.tiny_scenario import write_tiny_scenario

EXAMPLES = Path(__file__).parents[2] / "example_agents"


def example_function(file: str) -> Agent:
    """The function that ``--fde-agent=FILE`` finds."""
    return load_agent(parse(file, {}), EXAMPLES, {}, {})


def example(file: str) -> PythonAgent:
    """The agent that ``--fde-agent=FILE`` gives."""
    return PythonAgent(AgentIdentity(name=file), example_function(file))


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    with session(tmp_path_factory.mktemp("results")) as settings:
        yield settings


@pytest.fixture(scope="session")
def oil_npt() -> Scenario:
    return load(bundled_tasks() / "oil_npt")


@pytest.fixture(scope="session")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A task of a customer that no example knows."""
    return Case(load(write_tiny_scenario(tmp_path_factory.mktemp("tasks") / "tiny_post")), "v1", "L3")

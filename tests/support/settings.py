"""The harness as a session sets it up, for tests that run whole engagements."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_fdegym.agents.python import Agent, PythonAgent
from pytest_fdegym.people.router import default_router
from pytest_fdegym.results.record import AgentIdentity
from pytest_fdegym.results.store import Store
from pytest_fdegym.runner import Settings
from pytest_fdegym.sandbox.choose import choose


@contextmanager
def session(results: Path, **changes: Any) -> Iterator[Settings]:
    """Settings with the sandbox that this machine offers, the default router and a store in `results`."""
    values: dict[str, Any] = {"sandbox": choose("auto"), "router": default_router(), "store": Store(results), **changes}
    with Settings(**values) as settings:
        yield settings


def python_agent(agent: Agent) -> PythonAgent:
    """A Deliverer around a function."""
    return PythonAgent(AgentIdentity(name="myagent"), agent)

"""The agent of a session: resolved before any test, and made a Deliverer for each run."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Awaitable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_fdegym.admission.actors import actor
from pytest_fdegym.agents.command import CommandAgent
from pytest_fdegym.agents.loading import load
from pytest_fdegym.agents.python import PythonAgent
from pytest_fdegym.agents.resolve import BUILT_IN, Agent, Reference, installed_agents, parse, what_there_is
from pytest_fdegym.agents.session import Deliverer
from pytest_fdegym.errors import AgentNotFound, UsageError, nearest
from pytest_fdegym.pytest_side.plan import Plan
from pytest_fdegym.results.record import AgentIdentity


class AgentSource:
    """What --fde-agent named, loaded where it can be loaded beforehand.

    Making one raises UsageError (AgentNotFound among them) for whatever is wrong with the name, the code behind it or its options.
    """

    def __init__(self, plan: Plan) -> None:
        assert plan.agent is not None
        self._plan = plan
        self._installed = installed_agents()
        self.reference: Reference = parse(plan.agent, self._installed)
        self._loaded: Agent | None = None
        if self.reference.kind in ("module", "file", "entrypoint"):
            self._loaded = load(self.reference, Path(plan.agent_directory), plan.agent_options, self._installed)
        elif self.reference.kind in ("builtin", "command") and plan.agent_options:
            which = "a built-in agent" if self.reference.kind == "builtin" else "a command"
            raise UsageError(f"--fde-agent-opt {next(iter(plan.agent_options))}: {which} takes no options ({plan.agent}).")

    @property
    def fixture(self) -> str | None:
        """The name of the fixture that gives the agent, if that is what it is."""
        return self.reference.target if self.reference.kind == "fixture" else None

    def identity(self, parameter_id: str | None) -> AgentIdentity:
        """Who a run is recorded for; a parametrized fixture's agents are told apart by the parameters' id."""
        name = self.reference.name if parameter_id is None else f"{self.reference.name}-{parameter_id}"
        return AgentIdentity(name=name, version=self._plan.agent_version, options=dict(self._plan.agent_options))

    def given(self) -> object:
        """The agent, unless it is a fixture's: a callable, or a Deliverer."""
        if self._loaded is not None:
            return self._loaded
        if self.reference.kind == "command":
            return CommandAgent(self.identity(None), self.reference.target)
        return actor(self.reference.target)

    def both(self) -> AgentNotFound:
        """The error for a name that a fixture has, too."""
        name, kind = self.reference.target, self.reference.kind
        other = "the built-in" if kind == "builtin" else "the installed agent"
        return AgentNotFound(
            f"--fde-agent={name} could be two things: {other} {name!r}, and a fixture of that name. Say {kind}:{name} or fixture:{name}."
        )

    def not_a_fixture(self) -> str:
        """What to say beside pytest's own message when there is no such fixture."""
        name = self.reference.target
        if self.reference.text.startswith("fixture:"):
            return f"--fde-agent={self.reference.text}: there is no such fixture."
        hint = nearest(name, (*BUILT_IN, *self._installed))
        return f"--fde-agent={name} is neither a built-in nor an installed agent nor a fixture.{hint} {what_there_is(self._installed)}"


def deliverer(given: object, identity: AgentIdentity) -> Deliverer:
    """Adapt what the fixture `fde_agent` gave. Raises AgentNotFound if it is no agent."""
    if callable(getattr(given, "deliver", None)) and isinstance(getattr(given, "identity", None), AgentIdentity):
        made: Any = given
        return made  # type: ignore[no-any-return]  # has what the protocol asks for
    if not callable(given):
        raise AgentNotFound(
            f"the agent {identity.name} is a {type(given).__name__} ({given!r:.60}); an agent is a callable that takes an Engagement."
        )
    return PythonAgent(identity, _without_verdicts(given))


class AgentsVerdict(Exception):
    """The agent called pytest.skip, pytest.fail or pytest.xfail; a run's outcome is not the agent's to choose."""


def _without_verdicts(agent: Agent) -> Agent:
    """Turn outcomes that the agent raises into errors of the agent, so that what it left is graded: a skipped test passes every gate."""

    def run(engagement: Any) -> Any:
        with _verdicts_refused():
            result = agent(engagement)
        return finish(result) if inspect.isawaitable(result) else result

    async def finish(result: Awaitable[Any]) -> Any:
        with _verdicts_refused():
            return await result

    return run


@contextlib.contextmanager
def _verdicts_refused() -> Iterator[None]:
    try:
        yield
    except (pytest.skip.Exception, pytest.fail.Exception, pytest.xfail.Exception) as outcome:
        error = AgentsVerdict(f"{type(outcome).__name__}: {outcome}")
        raise error.with_traceback(outcome.__traceback__) from None

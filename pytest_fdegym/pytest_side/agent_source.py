"""The agent of a session: resolved before any test, and made a Deliverer for each run."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

from pytest_fdegym.admission.actors import actor
from pytest_fdegym.agents.command import CommandAgent
from pytest_fdegym.agents.loading import load
from pytest_fdegym.agents.options import described, takes_no_engagement
from pytest_fdegym.agents.python import NOT_THE_AGENTS, PythonAgent
from pytest_fdegym.agents.resolve import BUILT_IN, FIVE_TOOLS, Agent, Reference, accepted_forms, installed_agents, parse
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
        if self.reference.kind in ("module", "file", "entrypoint") or self._is_five_tools():
            self._loaded = load(self.reference, Path(plan.agent_directory), plan.agent_options, self._installed)
        elif self.reference.kind in ("builtin", "command") and plan.agent_options:
            which = "a built-in agent" if self.reference.kind == "builtin" else "a command"
            raise UsageError(f"--fde-agent-opt {next(iter(plan.agent_options))}: {which} takes no options ({self.reference.name}).")

    def _is_five_tools(self) -> bool:
        return self.reference.kind == "builtin" and self.reference.target == FIVE_TOOLS

    @property
    def fixture(self) -> str | None:
        """The name of the fixture that gives the agent, if that is what it is."""
        return self.reference.target if self.reference.kind == "fixture" else None

    def identity(self, parameter_id: str | None) -> AgentIdentity:
        """Who a run is recorded for; a parametrized fixture's agents are told apart by the parameters' id."""
        if (own := _deliverer(self._loaded)) is not None:
            return own.identity
        name = self.reference.name if parameter_id is None else f"{self.reference.name}-{parameter_id}"
        options = dict(self._plan.agent_options)
        if self.reference.kind == "command":
            options["command"] = self.reference.target  # the name is cut
        return AgentIdentity(name=name, version=self._plan.agent_version, options=options)

    def given(self) -> object:
        """The agent, unless it is a fixture's: a callable, or a Deliverer."""
        if self._loaded is not None:
            return self._loaded
        if self.reference.kind == "command":
            return CommandAgent(self.identity(None), self.reference.target, self._plan.agent_env)
        return actor(self.reference.target)

    def both(self) -> AgentNotFound:
        """The error for a name that a fixture has, too."""
        name, kind = self.reference.target, self.reference.kind
        other = "the built-in" if kind == "builtin" else "the installed agent"
        return AgentNotFound(
            f"--fde-agent={name} could be two things: {other} {name!r}, and a fixture of that name. Say {kind}:{name} or fixture:{name}."
        )

    def not_a_fixture(self) -> str:
        """The one sentence for a name that was taken for a fixture's, where there is no such fixture."""
        name = self.reference.target
        if self.reference.text.startswith("fixture:"):
            return f"--fde-agent={self.reference.text}: there is no such fixture."
        hint = nearest(name, (*BUILT_IN, *self._installed))
        if (Path(self._plan.agent_directory) / f"{name}.py").is_file():
            hint += f" {name}.py exists here: --fde-agent={name}.py."
        return f"--fde-agent={name} is neither a built-in nor an installed agent nor a fixture.{hint} {accepted_forms(self._installed)}"


def deliverer(given: object, identity: AgentIdentity) -> Deliverer:
    """Adapt what the fixture `fde_agent` gave. Raises AgentNotFound if it is no agent."""
    if (own := _deliverer(given)) is not None:
        return own
    if given is None:
        raise AgentNotFound(f"the agent {identity.name} is None: its fixture has to return or yield the agent.")
    if not callable(given):
        raise AgentNotFound(f"the agent {identity.name} is {described(given)}; an agent is a callable that takes an Engagement.")
    if (refusal := takes_no_engagement(given)) is not None:
        raise AgentNotFound(f"the agent {identity.name} {refusal}")
    return PythonAgent(identity, given, _without_verdict)


def _deliverer(given: object) -> Deliverer | None:
    """What the fixture gave, if it is a Deliverer already."""
    if callable(getattr(given, "deliver", None)) and isinstance(getattr(given, "identity", None), AgentIdentity):
        made: Any = given
        return made  # type: ignore[no-any-return]  # has what the protocol asks for
    return None


_VERDICTS = {pytest.skip.Exception: "skip", pytest.xfail.Exception: "xfail", pytest.fail.Exception: "fail", pytest.exit.Exception: "exit"}


def _without_verdict(error: BaseException) -> BaseException:
    """Of an outcome that the agent raises, an error of the agent, so that what it left is graded: a skipped test passes every gate."""
    called = next((name for kind, name in _VERDICTS.items() if isinstance(error, kind)), None)
    if called is None:
        return error
    made = RuntimeError(f"the agent called pytest.{called}({getattr(error, 'msg', None)!r}): an agent does not decide its outcome")
    return made.with_traceback(_agents_frames(error.__traceback__))


def _agents_frames(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames that lead to the agent's code, and those of pytest's that it ends in."""
    frames = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    rooms = [each.tb_frame.f_globals.get("__name__", "").partition(".")[0] for each in frames]
    first = next((number for number, room in enumerate(rooms) if room not in NOT_THE_AGENTS), len(frames))
    last = next((number for number in range(len(frames), 0, -1) if rooms[number - 1] != "_pytest"), 0)
    kept: TracebackType | None = None
    for each in reversed(frames[first:last]):
        kept = TracebackType(kept, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return kept

"""Privileged actors: they know a scenario's solutions and its expert path, as no agent does."""

from __future__ import annotations

from pytest_fdegym.agents.session import Deliverer, Ending, Session
from pytest_fdegym.channel.client import ChannelClient
from pytest_fdegym.channel.protocol import AskRequest, ReplyCard, TrialCard, TrialRequest, WaitCard, WaitRequest
from pytest_fdegym.errors import AgentNotFound, nearest
from pytest_fdegym.grading import lay_solution
from pytest_fdegym.results.record import AgentIdentity
from pytest_fdegym.scenario.scenario import Solution

BUILT_IN = ("do-nothing", "literal", "reference", "expert")
SOLUTION_PREFIX = "solution:"


class DoNothing:
    """Hands the system over as found."""

    identity = AgentIdentity(name="do-nothing")

    def deliver(self, session: Session) -> Ending:
        del session
        return Ending()


class SolutionActor:
    """Lays one of the scenario's solutions over the workspace, with the sign-offs and facts its manifest grants."""

    def __init__(self, solution: str, name: str | None = None) -> None:
        self.identity = AgentIdentity(name=name or f"{SOLUTION_PREFIX}{solution}")
        self._solution = solution

    def deliver(self, session: Session) -> Ending:
        solution = self._find(session)
        lay_solution(session.prepared, solution, session.workspace, session.sandbox)
        manifest, variant = solution.manifest, session.prepared.variant
        return Ending(
            granted_signoffs=manifest.signoffs_granted_in(variant), granted_facts=tuple(sorted(manifest.facts_granted_in(variant)))
        )

    def _find(self, session: Session) -> Solution:
        prepared = session.prepared
        known = prepared.scenario.solutions_in(prepared.variant)
        if self._solution not in known:
            raise AgentNotFound(
                f"{prepared.id} has no solution {self._solution!r}.{nearest(self._solution, known)} It has: {', '.join(sorted(known))}"
            )
        return known[self._solution]


class Expert:
    """Walks the scenario's expert path through the real channel and router, then delivers the reference; nothing is granted to it."""

    identity = AgentIdentity(name="expert")

    def deliver(self, session: Session) -> Ending:
        # Before the conversation, for trial runs on the way are the reference's.
        lay_solution(session.prepared, session.prepared.scenario.solutions["reference"], session.workspace, session.sandbox)
        client = ChannelClient(session.socket)
        for step in session.prepared.people.expert:
            if step.trial is not None:
                client.request("POST", "/trial", TrialCard, TrialRequest())
            elif step.wait_until is not None:
                client.request("POST", "/wait", WaitCard, WaitRequest(until=step.wait_until))
            else:
                assert step.ask is not None
                assert step.say is not None
                client.request("POST", "/ask", ReplyCard, AskRequest(person=step.ask, message=step.say))
        return Ending()


def actor(name: str) -> Deliverer:
    """The built-in of that name, or ``solution:NAME``. Raises AgentNotFound naming the built-ins and the nearest match."""
    if name.startswith(SOLUTION_PREFIX):
        return SolutionActor(name.removeprefix(SOLUTION_PREFIX))
    if name == "do-nothing":
        return DoNothing()
    if name == "expert":
        return Expert()
    if name in BUILT_IN:
        return SolutionActor(name, name)
    raise AgentNotFound(f"there is no built-in agent {name!r}.{nearest(name, BUILT_IN)} Built in: {', '.join(BUILT_IN)}, solution:NAME")

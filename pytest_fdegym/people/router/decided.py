"""A router whose verdicts are decisions made elsewhere: by a model, or read back from those that a model made before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pytest_fdegym.people.reading import read
from pytest_fdegym.people.router.answers import can_be_borne_out
from pytest_fdegym.people.router.base import (
    Candidate,
    GateQuestion,
    Judgement,
    RoutablePerson,
    RouterContext,
    Routing,
)
from pytest_fdegym.people.router.decision import AskedGate, AskedTopics, Decision, GateVerdict, Question, TopicsVerdict, key_of, labels

Decider = Callable[[str, Question], Decision]
"""Decides the question that has this key. Raises InfrastructureFault when it cannot."""


class DecidedRouter:
    """Both Router and Judge. What a message cannot bear out (a figure without a number in it) is not asked.

    A question is decided once as long as the object lives, so that asking again gives the same verdict.
    """

    def __init__(self, router_id: str, decide: Decider, source: str) -> None:
        self.id = router_id
        self.source = source
        """Where its decisions come from, for people to read."""
        self._decide = decide
        self._made: dict[str, Decision] = {}

    def route(self, person: RoutablePerson, message: str, context: RouterContext) -> Routing:
        """Return the verdict on `message`. Raises InfrastructureFault."""
        decision = self._decision(AskedTopics(person, message, context))
        return routing_of(decision, person)

    def judge(self, question: GateQuestion) -> Judgement:
        """Return what the message shows. Raises InfrastructureFault."""
        reading = read(question.message)
        possible = tuple(leaf for leaf in question.open if can_be_borne_out(leaf, reading))
        if not possible:
            return Judgement({})
        decision = self._decision(AskedGate(replace(question, open=possible)))
        assert isinstance(decision.verdict, GateVerdict)  # a key is of one kind
        shown = decision.verdict.shown
        found = {leaf: frozenset(shown[letter]) for letter, leaf in zip(labels(len(possible)), possible, strict=True) if shown.get(letter)}
        return Judgement(found, (_json(decision),))

    def _decision(self, question: Question) -> Decision:
        key = key_of(self.id, question)
        if key not in self._made:
            self._made[key] = self._decide(key, question)
        return self._made[key]


def routing_of(decision: Decision, person: RoutablePerson) -> Routing:
    """A decision about topics as a routing.

    Fishing and off-topic messages ask for nothing; topics asked for go before those that are unsure; unknown ones are left out.
    """
    verdict = decision.verdict
    assert isinstance(verdict, TopicsVerdict)  # a key is of one kind
    because = (_json(decision),)
    if verdict.message == "fishing":
        return Routing("fishing", decisions=because)
    if verdict.message == "specific":
        known = [(topic, said) for topic, said in verdict.topics.items() if topic in person.topics]
        if asked := tuple(Candidate(topic, 1.0) for topic, said in known if said == "asked"):
            return Routing("topics", asked, because)
        if unsure := tuple(Candidate(topic, 0.5) for topic, said in known if said == "unsure"):
            return Routing("unsure", unsure, because)
    return Routing("miss", decisions=because)


def _json(decision: Decision) -> dict[str, Any]:
    return decision.model_dump(mode="json")

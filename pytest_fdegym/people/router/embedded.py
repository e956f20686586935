"""The default router: sentences, the author's triggers and lexical similarity, weighed by a logistic; asks back when it is unsure."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from pytest_fdegym.people.router.base import Candidate, RoutablePerson, RouterContext, Routing
from pytest_fdegym.people.router.company import CompanyModel
from pytest_fdegym.people.router.features import WEIGHED, Features, measure
from pytest_fdegym.people.router.followups import chosen_of, continues
from pytest_fdegym.people.router.sentences import split
from pytest_fdegym.people.router.weights import FITTED, THRESHOLDS, Thresholds, Weights
from pytest_fdegym.scenario.model import Topic

ASK_BACK_AT_MOST = 3
"""Candidates named in one question that is asked back."""
_ASKED_BACK_BONUS = 1.5
"""Log-odds, as are the next two: the person has just named the topic, so a weaker hint will do."""
_SUPPLIED_BONUS = 3.0
"""For the topic that was refused, when a message asks nothing: it brings what was missing."""
_SUPPLIED_MALUS = -1.5
"""For the person's other topics then."""


def probability(features: Features, weights: Weights, bonus: float = 0.0) -> float:
    """Return the calibrated probability (0..1) that the message asks for the topic; `bonus` is added to the log-odds."""
    if features.refused:
        return 0.0
    values = dict(zip(WEIGHED, features.values(), strict=True))
    odds = weights.intercept + bonus + sum(weight * values[name] for name, weight in weights.of.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


def decide(probabilities: Mapping[str, float], with_facts: Collection[str], *, broad: bool, thresholds: Thresholds) -> Routing:
    """Return the verdict for the probability of each topic.

    `with_facts` are the topics that carry facts; `broad` says that the message holds a broad request, which nobody asks back about.
    """
    ranked = sorted((Candidate(topic, round(p, 4)) for topic, p in probabilities.items()), key=lambda candidate: -candidate.score)
    least = thresholds.despite_broad if broad else 0.0
    asked = tuple(one for one in ranked if one.score >= max(least, thresholds.release if one.topic in with_facts else thresholds.answer))
    if asked:
        return Routing("topics", asked)
    if broad:
        return Routing("fishing")
    possible = tuple(one for one in ranked if one.score >= thresholds.ask_back)[:ASK_BACK_AT_MOST]
    return Routing("unsure", possible) if possible else Routing("miss")


def _bonus(topic: str, asked_back: Collection[str], supplied: str | None) -> float:
    """What the conversation adds to the log-odds of `topic`."""
    named = _ASKED_BACK_BONUS if topic in asked_back else 0.0
    if supplied is None:
        return named
    return named + (_SUPPLIED_BONUS if topic == supplied else _SUPPLIED_MALUS)


class EmbeddedRouter:
    """Needs nothing but the standard library. Keeps the company's topics compiled as long as they stay the same."""

    id = "embedded-1"

    def __init__(self, weights: Weights = FITTED, thresholds: Thresholds = THRESHOLDS) -> None:
        self._weights = weights
        self._thresholds = thresholds
        self._kept: tuple[Mapping[str, Topic], CompanyModel] | None = None

    def _company(self, person: RoutablePerson) -> CompanyModel:
        topics = dict(sorted({**person.others, **{f"{person.id}/{key}": topic for key, topic in person.topics.items()}}.items()))
        if self._kept is None or self._kept[0] != topics:
            self._kept = (topics, CompanyModel(topics))
        return self._kept[1]

    def measure(self, person: RoutablePerson, message: str) -> dict[str, Features]:
        """Return the evidence for each topic of `person`; raises ScenarioError when a trigger is not a regular expression."""
        own = {f"{person.id}/{key}": key for key in person.topics}
        measured = measure(self._company(person), tuple(own), tuple(person.others), split(message))
        return {own[topic]: features for topic, features in measured.items()}

    def scores(self, person: RoutablePerson, message: str) -> dict[str, float]:
        """Return the probability (0..1) of each topic of `person`, whatever was said before, for authors who try out a script."""
        return {topic: probability(features, self._weights) for topic, features in self.measure(person, message).items()}

    def route(self, person: RoutablePerson, message: str, context: RouterContext) -> Routing:
        """Return the verdict on `message`; raises ScenarioError when a trigger of the company is not a regular expression."""
        asked_back = tuple(topic for topic in context.asked_back if topic in person.topics)
        chosen = chosen_of(asked_back, message)
        if chosen is not None:
            return Routing("topics", tuple(Candidate(topic, 1.0) for topic in chosen)) if chosen else Routing("miss")
        measured = self.measure(person, message)
        supplies = context.pending in person.topics and "?" not in message
        probabilities = {
            topic: probability(features, self._weights, _bonus(topic, asked_back, context.pending if supplies else None))
            for topic, features in measured.items()
        }
        with_facts = [key for key, topic in person.topics.items() if topic.facts]
        broad = any(features.broad_message for features in measured.values())
        routing = decide(probabilities, with_facts, broad=broad, thresholds=self._thresholds)
        if routing.verdict != "topics":
            topic_before = continues(message, context)
            if topic_before is not None and topic_before in person.topics:
                return Routing("topics", (Candidate(topic_before, 0.5),))
        return routing

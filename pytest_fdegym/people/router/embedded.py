"""The default router: sentences, the author's triggers and lexical similarity, weighed by a logistic; asks back when it is unsure."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass

from pytest_fdegym.people.router import weights
from pytest_fdegym.people.router.base import Candidate, RoutablePerson, RouterContext, Routing
from pytest_fdegym.people.router.features import Features, PersonModel
from pytest_fdegym.people.router.followups import chosen_of, continues
from pytest_fdegym.people.router.sentences import split

ASK_BACK_AT_MOST = 3
"""Candidates named in one question that is asked back."""
_PENDING_BONUS = 1.5
_ASKED_BACK_BONUS = 1.5


def probability(features: Features, bonus: float = 0.0) -> float:
    """Return the calibrated probability (0..1) that the message asks for the topic; `bonus` is added to the log-odds."""
    values = asdict(features)
    odds = weights.INTERCEPT + bonus + sum(weight * values[name] for name, weight in weights.WEIGHTS.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


@dataclass(frozen=True)
class Thresholds:
    """Probabilities (0..1) from which the router acts."""

    answer: float = weights.ANSWER
    """A topic is answered."""
    release: float = weights.RELEASE
    """A topic that carries facts is answered; higher, since what is out cannot be taken back."""
    despite_broad: float = 0.8
    """A topic is answered although the message holds a broad request: it must ask for that topic by itself."""
    ask_back: float = weights.ASK_BACK
    """A topic is asked back about, where none is answered."""


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


class EmbeddedRouter:
    """Needs nothing but the standard library. Keeps one compiled model for each person as long as their topics stay the same."""

    id = "embedded-1"

    def __init__(self, thresholds: Thresholds = Thresholds()) -> None:  # noqa: B008  (frozen)
        self._thresholds = thresholds
        self._models: dict[str, tuple[RoutablePerson, PersonModel]] = {}

    def _model(self, person: RoutablePerson) -> PersonModel:
        kept = self._models.get(person.id)
        if kept is None or kept[0] != person:
            kept = self._models[person.id] = (person, PersonModel(person))
        return kept[1]

    def route(self, person: RoutablePerson, message: str, context: RouterContext = RouterContext()) -> Routing:  # noqa: B008  (frozen)
        """Return the verdict on `message`; raises ScenarioError when a trigger of the company is not a regular expression."""
        model = self._model(person)
        asked_back = tuple(topic for topic in context.asked_back if topic in person.topics)
        chosen = chosen_of(asked_back, message)
        if chosen is not None:
            return Routing("topics", tuple(Candidate(topic, 1.0) for topic in chosen)) if chosen else Routing("miss")
        measured = model.measure(split(message))
        probabilities = {}
        for topic, features in measured.items():
            bonus = (_ASKED_BACK_BONUS if topic in asked_back else 0.0) + (_PENDING_BONUS if topic == context.pending else 0.0)
            probabilities[topic] = probability(features, bonus)
        with_facts = [key for key, topic in person.topics.items() if topic.facts]
        broad = any(features.broad_message for features in measured.values())
        routing = decide(probabilities, with_facts, broad=broad, thresholds=self._thresholds)
        if routing.verdict != "topics":
            topic_before = continues(message, context)
            if topic_before in person.topics:
                return Routing("topics", (Candidate(topic_before, 0.5),))
        return routing

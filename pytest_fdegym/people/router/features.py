"""What is measured of a message for each topic of the addressed person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Final

from pytest_fdegym.people.router.company import NOBODY, CompanyModel, Reading
from pytest_fdegym.people.router.lexical import Similarity
from pytest_fdegym.people.router.sentences import Sentence


@dataclass(frozen=True)
class Features:
    """The evidence that a message asks for one topic; numbers that a logistic weighs, but for the first. Booleans are 0 or 1."""

    refused: bool
    """A `never` pattern matches the sentence that speaks most for the topic: it is not asked for, whatever else is found."""
    triggered: float
    """Sharpness of the best trigger that matches the sentence that speaks most for the topic, 0 when none does."""
    triggered_again: float
    """Sharpness of the further triggers that match it (at most 2)."""
    not_triggered: float
    """The topic has triggers, and none matches a sentence that asks."""
    triggered_in_context: float
    """Only sentences of context are matched by a trigger."""
    triggered_throughout: float
    """Sentences of context are matched as well as one that asks."""
    triggers_in_message: float
    """Sharpness of the further triggers that match any sentence of the message (at most 3)."""
    similarity: float
    similarity_of_centre: float
    similarity_of_letters: float
    similarity_of_message: float
    """Of the message as a whole to the topic's texts together."""
    ahead_of_own: float
    """Similarity less that of the person's nearest other topic."""
    ahead_of_others: float
    """Similarity less that of the nearest topic of somebody else."""
    message_ahead_of_others: float
    own_rival_triggered: float
    """A trigger of another topic of this person matches the sentence, none of this topic."""
    behind_own: float
    """By how much the person's other topic whose triggers match most leads in the sentence (at most 3)."""
    others_triggered: float
    """A trigger of somebody else's topic matches the sentence, none of this topic."""
    behind_others: float
    """By how much somebody else's topic whose triggers match most leads in the sentence (at most 3)."""
    small_talk: float
    """Similarity of the sentence to what is nobody's topic at work."""
    strange: float
    """Share of the sentence's words that the company's texts do not have."""
    strange_message: float
    broad: float
    """The sentence is a broad request."""
    broad_message: float
    only_topic: float
    """The person has no other topic."""
    brief: float
    """The sentence has fewer than three words that carry meaning."""
    statement: float
    """The sentence holds no question mark."""

    def values(self) -> tuple[float, ...]:
        """Return the numbers that are weighed, in the order of `WEIGHED`."""
        return tuple(float(value) for value in astuple(self)[1:])


WEIGHED: Final = tuple(field.name for field in fields(Features))[1:]
"""Names of the features that have a weight."""


@dataclass(frozen=True)
class _Message:
    """A message as a whole, and its sentences."""

    readings: Sequence[Reading]
    similarity: Mapping[str, Similarity]
    strange: float

    @property
    def asks(self) -> list[Reading]:
        return [reading for reading in self.readings if reading.sentence.role == "ask"]


def measure(company: CompanyModel, own: Sequence[str], others: Sequence[str], sentences: Sequence[Sentence]) -> dict[str, Features]:
    """Return the evidence for each of the person's `own` topics (``person/topic``); `others` are those of everybody else.

    Empty when there is no sentence.
    """
    if not sentences:
        return {}
    whole = company.repair(" ".join(sentence.text for sentence in sentences))
    message = _Message([company.read(sentence) for sentence in sentences], company.compare(whole), company.strangeness(whole))
    return {topic: _features(company, topic, [rival for rival in own if rival != topic], others, message) for topic in own}


def _strength(reading: Reading, topic: str) -> float:
    """A first guess, to choose the sentence that speaks most for `topic`."""
    return min(reading.hits(topic), 3.0) * 0.5 + reading.level(topic) - reading.refused[topic]


def _features(company: CompanyModel, topic: str, rivals: Sequence[str], others: Sequence[str], message: _Message) -> Features:
    asks = message.asks
    chosen = max(asks, key=lambda reading: _strength(reading, topic))
    here = chosen.similarity[topic]
    hits = chosen.hits(topic)
    in_context = any(reading.matched[topic] for reading in message.readings if reading.sentence.role == "context")
    own_rival = max((chosen.hits(rival) for rival in rivals), default=0.0)
    other = max((chosen.hits(rival) for rival in others), default=0.0)
    anywhere = {number: sharpness for reading in message.readings for number, sharpness in reading.matched[topic].items()}
    of_message = message.similarity[topic].centre
    return Features(
        refused=chosen.refused[topic],
        triggered=chosen.sharpest(topic),
        triggered_again=min(hits - chosen.sharpest(topic), 2),
        not_triggered=company.has_triggers(topic) and not hits,
        triggered_in_context=in_context and not hits,
        triggered_throughout=in_context and hits > 0,
        triggers_in_message=min(max(sum(anywhere.values()) - hits, 0), 3),
        similarity=here.best,
        similarity_of_centre=here.centre,
        similarity_of_letters=here.letters,
        similarity_of_message=of_message,
        ahead_of_own=chosen.level(topic) - max((chosen.level(rival) for rival in rivals), default=0.0),
        ahead_of_others=chosen.level(topic) - max((chosen.level(rival) for rival in others), default=0.0),
        message_ahead_of_others=of_message - max((message.similarity[rival].centre for rival in others), default=0.0),
        own_rival_triggered=own_rival > 0 and not hits,
        behind_own=min(max(own_rival - hits, 0), 3),
        others_triggered=other > 0 and not hits,
        behind_others=min(max(other - hits, 0), 3),
        small_talk=chosen.similarity[NOBODY].best,
        strange=chosen.strange,
        strange_message=message.strange,
        broad=chosen.broad,
        broad_message=any(reading.broad for reading in asks),
        only_topic=not rivals,
        brief=chosen.brief,
        statement="?" not in chosen.sentence.text,
    )

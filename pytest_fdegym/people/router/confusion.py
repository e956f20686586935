"""Which topics a router confuses: precision and recall of each topic, and what was answered in place of what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_fdegym.people.router.base import RoutablePerson
from pytest_fdegym.people.router.evaluate import Judged

NOTHING = "nothing"
"""In place of a topic: the message asks for none, or none was answered."""
ASKED_BACK = "asks back"


@dataclass(frozen=True)
class TopicFigures:
    """How the messages to one person met one topic. Counts of messages."""

    person: str
    topic: str
    asked: int
    """Those that ask for it, by their label."""
    answered: int
    """Those that it would answer."""
    right: int
    asked_back: int
    """Those that ask for it and make the person ask back."""

    @property
    def precision(self) -> float | None:
        """Share (0..1) of its answers that were asked for; None where it answers nothing."""
        return self.right / self.answered if self.answered else None

    @property
    def recall(self) -> float | None:
        """Share (0..1) of the questions for it that it answers; None where nobody asks."""
        return self.right / self.asked if self.asked else None


@dataclass(frozen=True)
class Confusion:
    """How often `wanted` was asked for and `happened` came instead or besides: a topic, NOTHING or ASKED_BACK."""

    person: str
    wanted: str
    happened: str
    count: int
    example: str
    """The shortest of the messages."""


def by_topic(judged: Sequence[Judged], people: Mapping[str, RoutablePerson]) -> list[TopicFigures]:
    """The figures of every topic of everybody, in the order of the script."""
    return [
        TopicFigures(
            person,
            topic,
            asked=sum(topic in one.entry.topics for one in to_person),
            answered=sum(topic in one.answered for one in to_person),
            right=sum(topic in one.answered and topic in one.entry.topics for one in to_person),
            asked_back=sum(topic in one.entry.topics and one.asked_back for one in to_person),
        )
        for person, who in people.items()
        for to_person in ([one for one in judged if one.entry.to == person],)
        for topic in who.topics
    ]


def confusions(judged: Sequence[Judged]) -> list[Confusion]:
    """What went otherwise than asked, the most frequent first."""
    texts: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for one in judged:
        for wanted, happened in _pairs(one):
            texts[one.entry.to, wanted, happened].append(one.entry.text)
    found = [Confusion(*key, len(messages), min(messages, key=len)) for key, messages in texts.items()]
    return sorted(found, key=lambda each: (-each.count, each.person, each.wanted, each.happened))


def _pairs(one: Judged) -> Iterator[tuple[str, str]]:
    wanted = set(one.entry.topics)
    if one.asked_back:
        yield from ((topic, ASKED_BACK) for topic in sorted(wanted))
        return
    missing, extra = sorted(wanted - one.answered), sorted(one.answered - wanted)
    # Where nothing is missing, what came besides is laid to what was asked.
    sources = missing or sorted(wanted) or [NOTHING]
    if extra:
        yield from ((topic, other) for topic in sources for other in extra)
    else:
        yield from ((topic, NOTHING) for topic in missing)

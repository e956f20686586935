"""How well a router does on a labelled set: the two errors that matter, asking back, F1, and a table by kind of message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from pytest_fdegym.people.router.base import RoutablePerson, Router, RouterContext, Routing
from pytest_fdegym.scenario.model import Topic

Kind = Literal["terse", "plain", "long", "indirect", "several", "offtopic", "fishing", "other"]


class Labelled(BaseModel):
    """A message with the topics of its addressee that a sensible reader would say it asks for."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    to: str
    kind: Kind
    topics: tuple[str, ...]
    text: str


def company(topics: Mapping[str, Mapping[str, Topic]]) -> dict[str, RoutablePerson]:
    """The people who have these `topics` (by person), each knowing those of the others."""
    return {
        person: RoutablePerson(
            person, own, {f"{other}/{key}": topic for other, theirs in topics.items() if other != person for key, topic in theirs.items()}
        )
        for person, own in topics.items()
    }


@dataclass(frozen=True)
class Judged:
    """A labelled message and what the router made of it."""

    entry: Labelled
    routing: Routing
    released_not_asked: tuple[str, ...]
    """Topics routed to that carry facts and are not in the label."""

    @property
    def answered(self) -> frozenset[str]:
        """The topics that would be answered."""
        return frozenset(candidate.topic for candidate in self.routing.topics) if self.routing.verdict == "topics" else frozenset()

    @property
    def asked_back(self) -> bool:
        """Whether the person asks back."""
        return self.routing.verdict == "unsure"

    @property
    def charged_not_answered(self) -> bool:
        """Whether a proper question is charged and none of its topics answered."""
        return bool(self.entry.topics) and not self.asked_back and not self.answered & set(self.entry.topics)


@dataclass(frozen=True)
class Figures:
    """Shares are 0..1; NaN-free: a share of nothing is 0."""

    messages: int
    proper: int
    """Messages that ask for at least one topic."""
    released_not_asked: float
    """Of all messages: a fact comes out that was not asked for."""
    charged_not_answered: float
    """Of the proper ones."""
    asked_back: float
    """Of the proper ones."""
    asked_back_of_all: float
    precision: float
    recall: float
    f1: float
    """Micro-average over (message, topic) pairs; asking back counts as a miss."""
    exact: float
    """Messages answered with exactly their topics; a message that asks for none is right when nothing is answered."""
    answered_wrongly: float
    """Of the messages that ask for nothing of this person: a topic is answered all the same."""


def judge(router: Router, people: Mapping[str, RoutablePerson], entries: Iterable[Labelled]) -> list[Judged]:
    """Route each of `entries` as the first message of a conversation."""
    judged = []
    for entry in entries:
        person = people[entry.to]
        routing = router.route(person, entry.text, RouterContext())
        topics = [candidate.topic for candidate in routing.topics] if routing.verdict == "topics" else []
        released = tuple(topic for topic in topics if person.topics[topic].facts and topic not in entry.topics)
        judged.append(Judged(entry, routing, released))
    return judged


def _share(judged: Sequence[Judged], test: Callable[[Judged], bool]) -> float:
    return sum(map(test, judged)) / len(judged) if judged else 0.0


def figures(judged: Sequence[Judged]) -> Figures:
    """Return the figures of a set of judged messages."""
    proper = [one for one in judged if one.entry.topics]
    right = sum(len(one.answered & set(one.entry.topics)) for one in judged)
    given = sum(len(one.answered) for one in judged)
    wanted = sum(len(one.entry.topics) for one in judged)
    return Figures(
        messages=len(judged),
        proper=len(proper),
        released_not_asked=_share(judged, lambda one: bool(one.released_not_asked)),
        charged_not_answered=_share(proper, lambda one: one.charged_not_answered),
        asked_back=_share(proper, lambda one: one.asked_back),
        asked_back_of_all=_share(judged, lambda one: one.asked_back),
        precision=right / given if given else 0.0,
        recall=right / wanted if wanted else 0.0,
        f1=2 * right / (given + wanted) if given + wanted else 0.0,
        exact=_share(judged, lambda one: one.answered == set(one.entry.topics)),
        answered_wrongly=_share([one for one in judged if not one.entry.topics], lambda one: bool(one.answered)),
    )


_HEADER = f"{'kind':<10}{'n':>5}{'released':>10}{'unanswered':>12}{'asked back':>12}{'F1':>7}{'exact':>7}{'answered wrongly':>18}"


def _row(name: str, of: Figures) -> str:
    return (
        f"{name:<10}{of.messages:>5}{of.released_not_asked:>10.1%}"
        + (
            f"{of.charged_not_answered:>12.1%}{of.asked_back:>12.1%}{of.f1:>7.2f}"
            if of.proper
            else f"{'-':>12}{of.asked_back_of_all:>12.1%}{'-':>7}"
        )
        + f"{of.exact:>7.1%}"
        + (f"{of.answered_wrongly:>18.1%}" if of.proper < of.messages else f"{'-':>18}")
    )


def table(judged: Sequence[Judged], by: Callable[[Judged], str] = lambda one: one.entry.kind) -> str:
    """Return the figures as text, a row for each group that `by` names and one for all; "released" means a fact not asked for."""
    groups: dict[str, list[Judged]] = {}
    for one in judged:
        groups.setdefault(by(one), []).append(one)
    rows = [_row(name, figures(group)) for name, group in groups.items()]
    return "\n".join([_HEADER, *rows, _row("all", figures(judged))])

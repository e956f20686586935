"""What a router confuses, counted on hand-made routings."""

from __future__ import annotations

from pytest_fdegym.people.router.base import Candidate, RoutablePerson, Routing
from pytest_fdegym.people.router.confusion import Confusion, TopicFigures, by_topic, confusions
from pytest_fdegym.people.router.evaluate import Judged, Labelled
from pytest_fdegym.scenario.model import Topic

TOPIC = Topic.model_validate({"about": "-", "call_it": "-", "examples": ["a?", "b?", "c?"], "answer": "-"})
PEOPLE = {"ann": RoutablePerson("ann", {"rule": TOPIC, "desk": TOPIC, "mail": TOPIC})}


def judged(text: str, wanted: str, found: str, verdict: str = "topics") -> Judged:
    """A message to Ann that asks for the topics `wanted` and was routed to `found`."""
    candidates = tuple(Candidate(topic, 0.9) for topic in found.split())
    entry = Labelled(to="ann", kind="plain", topics=tuple(wanted.split()), text=text)
    return Judged(entry, Routing("unsure", candidates) if verdict == "unsure" else Routing("topics" if found else "miss", candidates), ())


MESSAGES = [
    judged("right", "rule", "rule"),
    judged("right, twice", "rule desk", "desk rule"),
    judged("instead, at some length", "rule", "desk"),
    judged("instead", "rule", "desk"),
    judged("besides", "rule", "rule mail"),
    judged("half", "rule desk", "rule"),
    judged("back", "rule", "rule desk", "unsure"),
    judged("nobody asked", "", "mail"),
    judged("rightly nothing", "", ""),
]


def test_what_came_in_place_of_what() -> None:
    assert confusions(MESSAGES) == [
        Confusion("ann", "rule", "desk", 2, "instead"),
        Confusion("ann", "desk", "nothing", 1, "half"),
        Confusion("ann", "nothing", "mail", 1, "nobody asked"),
        Confusion("ann", "rule", "asks back", 1, "back"),
        Confusion("ann", "rule", "mail", 1, "besides"),
    ]


def test_precision_and_recall_of_each_topic() -> None:
    rule, desk, mail = by_topic(MESSAGES, PEOPLE)
    assert rule == TopicFigures("ann", "rule", asked=7, answered=4, right=4, asked_back=1)
    assert (rule.precision, rule.recall) == (1.0, 4 / 7)
    assert desk == TopicFigures("ann", "desk", asked=2, answered=3, right=1, asked_back=0)
    assert (mail.precision, mail.recall) == (0.0, None)
    assert by_topic([], PEOPLE)[0].precision is None

"""A scripted router and a small customer to talk to in tests."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from pytest_fdegym.people import Conversation
from pytest_fdegym.people.router.base import Candidate, RoutablePerson, Router, RouterContext, Routing
from pytest_fdegym.scenario.model import Calendar, FactSpec, PeopleFile

TUESDAY = datetime(2025, 3, 4, 8, 0)


class KeywordRouter:
    """A topic is asked for where its id stands in the message as a word.

    ``unclear(a 0.5, b 0.4)`` makes it unsure about a and b; "everything" is fishing; anything else is a miss. What it was given is kept
    in `contexts` and `people`.
    """

    id = "keywords-for-tests"

    def __init__(self) -> None:
        self.contexts: list[RouterContext] = []
        self.people: list[RoutablePerson] = []

    def route(self, person: RoutablePerson, message: str, context: RouterContext) -> Routing:
        self.contexts.append(context)
        self.people.append(person)
        if "everything" in message:
            return Routing("fishing")
        if unclear := re.search(r"unclear\(([^)]*)\)", message):
            named = [item.split() for item in unclear[1].split(",")]
            return Routing("unsure", tuple(Candidate(topic, float(score)) for topic, score in named))
        places = {topic: message.find(topic) for topic in person.topics if re.search(rf"\b{topic}\b", message)}
        topics = sorted(places, key=lambda topic: places[topic])
        return Routing("topics", tuple(Candidate(topic, 1 - 0.01 * n) for n, topic in enumerate(topics))) if topics else Routing("miss")


def topic(answer: str, **more: Any) -> dict[str, Any]:
    return {"about": answer, "call_it": f"the matter of {answer}", "examples": ["a?", "b?", "c?"], "answer": answer, **more}


def person(name: str, topics: dict[str, Any], **more: Any) -> dict[str, Any]:
    plain = {"role": "clerk", "directory": f"{name} of the works", "rate": 0.01, "patience": 3, "fallback": "Not my business."}
    return {"name": name, "topics": topics, **plain, **more}


def talk(
    people: dict[str, Any],
    inbox: dict[str, Any] | None = None,
    facts: str = "",
    router: Router | None = None,
    **calendar: Any,
) -> Conversation:
    """A conversation with `people`, from Tuesday 08:00; `facts` are ids, a message takes two hours, a waited day costs 0.012."""
    script = PeopleFile.model_validate({"people": people, "inbox": inbox or {}, "expert": [{"wait_until": TUESDAY}]})
    known = {fact: FactSpec.model_validate({"text": fact}) for fact in facts.split()}
    days = Calendar.model_validate({"start": TUESDAY, "waited_day_charge": 0.012, **calendar})
    return Conversation(script, days, known, router or KeywordRouter())


def at(day: int, hour: int, minute: int = 0) -> datetime:
    """A moment of March 2025; the 4th is a Tuesday."""
    return datetime(2025, 3, day, hour, minute)

"""Loads labelled sets, of this folder and of the bundled scenarios, and the people they are addressed to."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from pytest_fdegym.people.router import RoutablePerson
from pytest_fdegym.people.router.evaluate import Labelled, company
from pytest_fdegym.scenario.model import PeopleFile, Topic
from pytest_fdegym.scenario.scenario import FIRST_VARIANT

HERE = Path(__file__).parent
TASKS = HERE.parents[1] / "tasks"


def _yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def labelled(name: str) -> list[Labelled]:
    """Return the entries of ``tests/routing/NAME.yaml``; ``oil_npt/questions`` are those of a scenario's author."""
    return [Labelled.model_validate(entry) for entry in _yaml((TASKS if "/" in name else HERE) / f"{name}.yaml")]


def scenario_people(scenario: str) -> dict[str, RoutablePerson]:
    """Return the people of a bundled scenario's first variant; what a router reads of them holds no parameters."""
    people = PeopleFile.model_validate(_yaml(TASKS / scenario / "people.yaml")).people
    return company(
        {
            key: {name: topic for name, topic in person.topics.items() if topic.exists_in(FIRST_VARIANT)}
            for key, person in people.items()
            if person.exists_in(FIRST_VARIANT)
        }
    )


def expert_messages(scenario: str) -> list[tuple[str, str]]:
    """Return (person, message) of the first variant's expert path, with 61 for every value that the world fills in."""
    steps = PeopleFile.model_validate(_yaml(TASKS / scenario / "people.yaml")).expert
    filled = re.compile(r"\{\{.*?\}\}|\{%.*?%\}")
    return [
        (step.ask, filled.sub(lambda found: "61" if found[0].startswith("{{") else "", step.say))
        for step in steps
        if step.ask and step.say and step.exists_in(FIRST_VARIANT)
    ]


def thinned(people: Mapping[str, RoutablePerson], seed: int) -> dict[str, RoutablePerson]:
    """Return `people` with two fifths of their triggers taken away at random, as if their author had thought of fewer."""
    rng = random.Random(seed)
    return company(
        {
            key: {
                name: topic.model_copy(update={"triggers": tuple(trigger for trigger in topic.triggers if rng.random() >= 0.4)})
                for name, topic in person.topics.items()
            }
            for key, person in people.items()
        }
    )


def offices() -> Iterator[tuple[dict[str, RoutablePerson], list[Labelled]]]:
    """Yield the people of each office in ``offices.yaml``, who have no triggers, with the messages to them.

    Questions to somebody else are every fourth plain question, sent to the next colleague.
    """
    book = _yaml(HERE / "offices.yaml")
    fishing = book.pop("fishing")
    for office in book.values():
        entries: list[Labelled] = []
        for person, colleague in zip(office, [*list(office)[1:], next(iter(office))], strict=True):
            for key, topic in office[person]["topics"].items():
                entries += [Labelled(to=person, kind="plain", topics=(key,), text=text) for text in topic["plain"]]
                entries += [Labelled(to=colleague, kind="other", topics=(), text=text) for text in topic["plain"][::4]]
            entries += [Labelled(to=person, kind="several", **entry) for entry in office[person]["several"]]
            entries += [Labelled(to=person, kind="offtopic", topics=(), text=text) for text in office[person]["offtopic"]]
            entries += [Labelled(to=person, kind="fishing", topics=(), text=text) for text in fishing]
        topics = {person: {key: _spoken(topic) for key, topic in what["topics"].items()} for person, what in office.items()}
        yield company(topics), entries


def _spoken(topic: dict[str, Any]) -> Topic:
    return Topic.model_validate({"about": topic["about"], "call_it": topic["about"], "examples": topic["examples"], "answer": "-"})

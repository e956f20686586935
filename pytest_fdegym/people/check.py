"""Refuses a script that the conversation could not play: what a variant's people name must exist in that variant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from pytest_fdegym.errors import ScenarioError, nearest
from pytest_fdegym.people.calendar import check_calendar
from pytest_fdegym.people.gates import check_condition, check_evidence
from pytest_fdegym.scenario.model import Calendar, Condition, FactSpec, PeopleFile, Topic


def check_script(people: PeopleFile, calendar: Calendar, facts: Mapping[str, FactSpec]) -> None:
    """Raise ScenarioError for the first thing that is wrong in `people` (filled in and limited to the variant)."""
    check_calendar(calendar)
    signoffs = {topic.signoff.id for person in people.people.values() for topic in person.topics.values() if topic.signoff}
    for name, person in people.people.items():
        where = f"people.yaml: {name}"
        _local(f"{where}.away.until", person.away.until if person.away else None)
        _local(f"{where}.leaves.at", person.leaves.at if person.leaves else None)
        for key, topic in person.topics.items():
            _check_topic(f"{where}/{key}", topic, people, facts, signoffs)
    for name, mail in people.inbox.items():
        where = f"people.yaml: inbox {name}"
        _local(f"{where}.at", mail.at)
        _known(f"{where}.facts", "fact", mail.facts, facts)
        _known(f"{where}.after_fact", "fact", [mail.after_fact], facts)


def _check_topic(where: str, topic: Topic, people: PeopleFile, facts: Mapping[str, FactSpec], signoffs: set[str]) -> None:
    _local(f"{where}.available_at", topic.available_at)
    _known(f"{where}.facts", "fact", topic.facts, facts)
    if topic.requires:
        _known(f"{where}.requires.facts", "fact", topic.requires.facts, facts)
        _known(f"{where}.requires.signoffs", "sign-off", topic.requires.signoffs, signoffs)
    if topic.evidence:
        check_evidence(topic.evidence, f"{where}.evidence")
        for item in topic.evidence.items.values():
            _known(f"{where}.evidence", "fact", _facts_of(item), facts)
    if topic.exclusive and topic.exclusive.shown:
        check_condition(topic.exclusive.shown, f"{where}.exclusive.shown")
        _known(f"{where}.exclusive.shown", "fact", _facts_of(topic.exclusive.shown), facts)
    if topic.signoff:
        _local(f"{where}.signoff.valid_from", topic.signoff.valid_from)
        _local(f"{where}.signoff.valid_until", topic.signoff.valid_until)
    if topic.opens_when:
        _local(f"{where}.opens_when.at", topic.opens_when.at)
        _known(f"{where}.opens_when.left", "person", [topic.opens_when.left], people.people)
        _known(f"{where}.opens_when.fact", "fact", [topic.opens_when.fact], facts)


def _facts_of(condition: Condition) -> Iterable[str | None]:
    yield condition.fact
    for inner in (*(condition.all or ()), *(condition.any or ())):
        yield from _facts_of(inner)


def _known(where: str, kind: str, names: Iterable[str | None], known: Iterable[str]) -> None:
    known = list(known)
    for name in names:
        if name is not None and name not in known:
            raise ScenarioError(f"{where}: there is no {kind} {name!r} in this variant.{nearest(name, known)}")


def _local(where: str, moment: datetime | None) -> None:
    if moment is not None and moment.tzinfo is not None:
        raise ScenarioError(f"{where}: {moment.isoformat()} has a time zone; a local time without one is expected.")

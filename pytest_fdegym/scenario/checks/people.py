"""people.yaml: who refers to whom and to what, conditions that can hold, patterns that compile, texts that can be filled in."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fdegym.scenario.model import Condition, Evidence, ExpertStep, InboxMessage, OpensWhen, Person, Topic
from pytest_fdegym.scenario.problems import KeyPath, Problem, unknown
from pytest_fdegym.scenario.templates import is_template
from pytest_fdegym.scenario.validation import pattern_error

from .material import Finding, Material, by_number, one_of, signoff_ids
from .texts import text_findings

_KINDS = ("number", "id", "ids", "document", "phrase", "fact", "trial_report", "all", "any")


def people_problems(material: Material) -> Iterator[Problem]:
    """Yield what is wrong between the parts of people.yaml, and between it and scenario.yaml."""
    if material.people.model is not None:
        yield from material.report(material.people_source, _findings(material))
    if material.file.model is not None and material.readable("parameters"):
        names = material.names("parameters")
        yield from text_findings(material.people_source, names)


def _findings(material: Material) -> Iterator[Finding]:
    people = material.people.model
    assert people is not None
    for name, person in people.people.items():
        yield from _person(material, person, ("people", name))
    for name, message in people.inbox.items():
        yield from _inbox(material, message, ("inbox", name))
    for index, step in enumerate(people.expert):
        yield from _expert(material, step, ("expert", index))
    without = [each for each in by_number(material.variants) if not any(step.exists_in(each) for step in people.expert)]
    if without:
        yield ("expert",), f"no step exists in {', '.join(without)}"


def _person(material: Material, person: Person, path: KeyPath) -> Iterator[Finding]:
    yield from material.limits(person, path)
    if person.away is not None:
        yield from material.limits(person.away, (*path, "away"))
    if person.leaves is not None:
        yield from material.limits(person.leaves, (*path, "leaves"))
        yield from one_of((*path, "leaves"), person.leaves, ("at", "after_messages"))
    for name, topic in person.topics.items():
        here = (*path, "topics", name)
        yield from material.limits(topic, here)
        yield from _topic(material, topic, here, material.variants_of(person) & material.variants_of(topic))


def _topic(material: Material, topic: Topic, path: KeyPath, holder: frozenset[str]) -> Iterator[Finding]:
    for index, fact in enumerate(topic.facts):
        yield from material.fact(fact, (*path, "facts", index), holder)
    for key in ("triggers", "never"):
        for index, pattern in enumerate(getattr(topic, key)):
            yield from _pattern(pattern, (*path, key, index))
    if topic.evidence is not None:
        yield from _evidence(material, topic.evidence, (*path, "evidence"), holder)
    if topic.requires is not None:
        for index, fact in enumerate(topic.requires.facts):
            yield from material.fact(fact, (*path, "requires", "facts", index), holder)
        assert material.people.model is not None
        known = signoff_ids(material.people.model)
        for index, signoff in enumerate(topic.requires.signoffs):
            if signoff not in known:
                yield (*path, "requires", "signoffs", index), unknown(signoff, "a sign-off of any topic", known)
    if topic.exclusive is not None and topic.exclusive.shown is not None:
        yield from _condition(material, topic.exclusive.shown, (*path, "exclusive", "shown"), holder)
    if topic.opens_when is not None:
        yield from _opens(material, topic.opens_when, (*path, "opens_when"), holder)


def _opens(material: Material, opens: OpensWhen, path: KeyPath, holder: frozenset[str]) -> Iterator[Finding]:
    yield from one_of(path, opens, ("left", "at", "fact"))
    if opens.fact is not None:
        yield from material.fact(opens.fact, (*path, "fact"), holder)
    if opens.left is not None:
        yield from material.person(opens.left, (*path, "left"), holder)
        people = material.people.model
        person = people.people.get(opens.left) if people else None
        if person is not None and person.leaves is None and ("people", opens.left, "leaves") not in material.people.dropped:
            yield (*path, "left"), f"{opens.left!r} never leaves: the person has no 'leaves'"


def _evidence(material: Material, evidence: Evidence, path: KeyPath, holder: frozenset[str]) -> Iterator[Finding]:
    if evidence.need is not None and evidence.need > len(evidence.items):
        yield (*path, "need"), f"{evidence.need} of the items are needed, but there are only {len(evidence.items)}"
    for name, condition in evidence.items.items():
        yield from _condition(material, condition, (*path, "items", name), holder)


def _condition(material: Material, condition: Condition, path: KeyPath, holder: frozenset[str]) -> Iterator[Finding]:
    yield from one_of(path, condition, _KINDS)
    for key, belongs_to in (("within", "number"), ("plus_minus", "number"), ("at_least", "ids")):
        if key in condition.model_fields_set and getattr(condition, belongs_to) is None:
            yield path, f"{key!r} belongs to {belongs_to!r}, which is not given"
    if condition.ids is not None and not isinstance(condition.ids, str) and condition.at_least > len(condition.ids):
        yield (*path, "at_least"), f"{condition.at_least} of the ids are needed, but there are only {len(condition.ids)}"
    for key in ("phrase", "near"):
        if (pattern := getattr(condition, key)) is not None:
            yield from _pattern(pattern, (*path, key))
    if condition.fact is not None:
        yield from material.fact(condition.fact, (*path, "fact"), holder)
    if condition.trial_report is not None:
        yield from _trial(material, (*path, "trial_report"), holder)
    for key in ("all", "any"):
        inner = getattr(condition, key)
        if inner == ():
            yield (*path, key), "at least one condition is expected; the list is empty"
        for index, each in enumerate(inner or ()):
            yield from _condition(material, each, (*path, key, index), holder)


def _trial(material: Material, path: KeyPath, holder: frozenset[str]) -> Iterator[Finding]:
    """Find that no trial run can be had in all the variants (`holder`) that need one at `path`."""
    file = material.file.model
    if file is None or not material.readable("trial"):
        return
    if file.trial is None:
        yield path, "scenario.yaml declares no trial"
    elif missing := [each for each in by_number(holder) if not file.trial.exists_in(each)]:
        yield path, f"there is no trial in {', '.join(missing)}, where it is referred to"


def _pattern(pattern: str, path: KeyPath) -> Iterator[Finding]:
    if is_template(pattern):
        return  # compiled when it is filled in
    if (wrong := pattern_error(pattern)) is not None:
        yield path, f"{pattern!r} is not a regular expression: {wrong}"


def _inbox(material: Material, message: InboxMessage, path: KeyPath) -> Iterator[Finding]:
    holder = material.variants_of(message)
    yield from material.limits(message, path)
    yield from one_of(path, message, ("at", "after_fact", "after_messages"))
    for index, fact in enumerate(message.facts):
        yield from material.fact(fact, (*path, "facts", index), holder)
    if message.after_fact is not None:
        yield from material.fact(message.after_fact, (*path, "after_fact"), holder)
    if message.sender in material.people_names:
        yield from material.person(message.sender, (*path, "sender"), holder)


def _expert(material: Material, step: ExpertStep, path: KeyPath) -> Iterator[Finding]:
    yield from material.limits(step, path)
    yield from one_of(path, step, ("ask", "wait_until", "trial"))
    if step.trial is not None:
        yield from _trial(material, (*path, "trial"), material.variants_of(step))
    if step.ask is not None:
        yield from material.person(step.ask, (*path, "ask"), material.variants_of(step))
    if (step.ask is None) != (step.say is None):
        yield path, "'ask' and 'say' belong together: who is asked, and what is said"

"""What can be obtained at all: in every variant, some order of questions gets each topic answered and each key fact released."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_fdegym.scenario.model import Condition, PeopleFile, ScenarioFile, Topic
from pytest_fdegym.scenario.problems import KeyPath, Problem

from .material import Finding, Material, by_number, signoff_ids


@dataclass(frozen=True)
class _Source:
    """A topic or an inbox message of one variant: what it gives, and what has to be had before."""

    name: str
    path: KeyPath
    facts: frozenset[str]
    signoff: str | None
    topic: Topic | None
    after_fact: str | None = None

    def lacks(self, facts: frozenset[str], signoffs: frozenset[str]) -> frozenset[str]:
        """Which facts and sign-offs are missing before this source gives anything."""
        needed = {self.after_fact} if self.after_fact is not None else set()
        missing_signoffs: set[str] = set()
        if self.topic is not None:
            needed |= _needed(self.topic, facts)
            missing_signoffs = set(self.topic.requires.signoffs) - signoffs if self.topic.requires else set()
        return frozenset((needed - facts) | missing_signoffs)


def reach_problems(material: Material) -> Iterator[Problem]:
    """Yield, once for all variants concerned, what nobody can ever get out of the people."""
    file, people = material.file.model, material.people.model
    assert file is not None
    assert people is not None
    known = material.names("facts") | signoff_ids(people)
    in_variants: dict[tuple[bool, Finding], list[str]] = {}
    for variant in by_number(material.variants):
        unreleased = set(_unreleased(file, people, variant))
        for finding in _people_findings(people, variant, known - unreleased):  # told once, where it is declared
            in_variants.setdefault((False, finding), []).append(variant)
        for name in sorted(unreleased):
            finding = ("facts", name), f"the key fact {name!r} is released by no topic and no inbox message"
            in_variants.setdefault((True, finding), []).append(variant)
    for (in_file, (path, message)), variants in in_variants.items():
        source = material.file_source if in_file else material.people_source
        yield source.problem(path, f"{message} (in {', '.join(variants)})")


def _sources(people: PeopleFile, variant: str) -> list[_Source]:
    found = [
        _Source(
            f"{person_id}/{name}",
            ("people", person_id, "topics", name),
            frozenset(topic.facts),
            topic.signoff.id if topic.signoff else None,
            topic,
        )
        for person_id, person in people.people.items()
        if person.exists_in(variant) and (person.restricted is None or person.restricted.still_answers)
        for name, topic in person.topics.items()
        if topic.exists_in(variant)
    ]
    found += [
        _Source(f"inbox/{name}", ("inbox", name), frozenset(message.facts), None, None, message.after_fact)
        for name, message in people.inbox.items()
        if message.exists_in(variant)
    ]
    return found


def _reached(sources: list[_Source]) -> tuple[frozenset[str], frozenset[str]]:
    """The facts and sign-offs that can be had in some order."""
    facts: frozenset[str] = frozenset()
    signoffs: frozenset[str] = frozenset()
    while True:
        open_now = [source for source in sources if not source.lacks(facts, signoffs)]
        more = facts.union(*(source.facts for source in open_now))
        given = signoffs | {source.signoff for source in open_now if source.signoff is not None}
        if (more, given) == (facts, signoffs):
            return facts, signoffs
        facts, signoffs = more, frozenset(given)


def _people_findings(people: PeopleFile, variant: str, known: frozenset[str]) -> Iterator[Finding]:
    sources = _sources(people, variant)
    facts, signoffs = _reached(sources)
    lacking = {source.name: source.lacks(facts, signoffs) for source in sources}
    givers: dict[str, list[str]] = {}
    for source in sources:
        for thing in source.facts | ({source.signoff} if source.signoff else set()):
            givers.setdefault(thing, []).append(source.name)
    in_cycle: set[str] = set()
    for source in sources:
        for thing in sorted(lacking[source.name]):
            if thing not in givers:
                if thing not in known:
                    continue  # an unknown fact or sign-off is reported where it is named, an unreleased key fact where it is declared
                yield source.path, f"{thing!r} is needed before this is answered, but nobody gives it"
            elif (cycle := _cycle(source.name, lacking, givers)) and not in_cycle & set(cycle):
                in_cycle |= set(cycle)
                yield source.path, f"these wait for each other: {' -> '.join([*cycle, cycle[0]])}"


def _cycle(start: str, lacking: Mapping[str, frozenset[str]], givers: Mapping[str, list[str]]) -> list[str]:
    """The sources that wait for each other, if `start` is one of them: each needs what the next gives."""
    stack = [[start]]
    seen: set[str] = set()
    while stack:
        way = stack.pop()
        for thing in sorted(lacking[way[-1]]):
            for giver in givers.get(thing, ()):
                if giver == start:
                    return way
                if giver not in seen and lacking[giver]:
                    seen.add(giver)
                    stack.append([*way, giver])
    return []


def _unreleased(file: ScenarioFile, people: PeopleFile, variant: str) -> Iterator[str]:
    """The key facts of `variant` that nothing gives."""
    released = {fact for source in _sources(people, variant) for fact in source.facts}
    for name, fact in file.facts.items():
        if fact.key and fact.exists_in(variant) and name not in released:
            yield name


def _needed(topic: Topic, facts: frozenset[str]) -> set[str]:
    """The facts without which `topic` stays closed, given that `facts` can be had."""
    needed = set(topic.requires.facts) if topic.requires else set()
    if topic.opens_when is not None and topic.opens_when.fact is not None:
        needed.add(topic.opens_when.fact)
    if topic.evidence is not None:
        items = list(topic.evidence.items.values())
        closed = [item for item in items if not _can_hold(item, facts)]
        if len(items) - len(closed) < (topic.evidence.need or len(items)):
            needed |= {fact for item in closed for fact in _facts_in(item)}
    return needed


def _can_hold(condition: Condition, facts: frozenset[str]) -> bool:
    if condition.fact is not None:
        return condition.fact in facts
    if condition.all is not None:
        return all(_can_hold(each, facts) for each in condition.all)
    if condition.any is not None:
        return any(_can_hold(each, facts) for each in condition.any)
    return True


def _facts_in(condition: Condition) -> Iterator[str]:
    if condition.fact is not None:
        yield condition.fact
    for each in (*(condition.all or ()), *(condition.any or ())):
        yield from _facts_in(each)

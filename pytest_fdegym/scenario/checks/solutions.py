"""solutions/: what is there, what each is based on and granted, and which key facts have no ablation."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fdegym.scenario.model import Limited
from pytest_fdegym.scenario.problems import KeyPath, Problem, unknown
from pytest_fdegym.scenario.scenario import Solution

from .code import parse
from .material import Finding, Material, by_number, missing_in

REQUIRED = ("reference", "literal")


def solution_problems(material: Material) -> Iterator[Problem]:
    """Yield what is wrong between the solutions, and between them and the two YAML files."""
    for name in REQUIRED:
        solution = material.solutions.get(name)
        if solution is None:
            if name not in material.unreadable_solutions:
                folder = material.folder / "solutions" / name
                yield Problem(folder, None, "", "is missing; every scenario has a reference and a literal solution")
        elif missing := [each for each in by_number(material.variants) if not solution.exists_in(each)]:
            yield solution.source.problem((), f"does not exist in {', '.join(missing)}; the {name} solution exists in every variant")
    for solution in material.solutions.values():
        for path, message in _findings(material, solution):
            yield solution.source.problem(path, message)
        yield from _script(solution)


def solution_warnings(material: Material) -> Iterator[Problem]:
    """Yield the key facts whose worth cannot be measured, for want of an ablation."""
    file = material.file.model
    assert file is not None
    ablated = {solution.fact for solution in material.solutions.values()}
    for name, fact in file.facts.items():
        if fact.key and name not in ablated:
            yield material.file_source.problem(("facts", name), f"this key fact has no ablation (solutions/ablations/{name}/FILL)")


def _findings(material: Material, solution: Solution) -> Iterator[Finding]:
    manifest = solution.manifest
    holder = material.variants_of(manifest)
    yield from material.limits(manifest, ())
    for index, variant in enumerate(manifest.right_in):
        if material.variants and variant not in material.variants:
            yield ("right_in", index), unknown(variant, "a variant of scenario.yaml", material.variants)
    if solution.fact is not None:
        yield from material.fact(solution.fact, (), holder)
        fact_spec = material.file.model.facts.get(solution.fact) if material.file.model is not None else None
        if fact_spec is not None and not fact_spec.key and material.readable("facts", solution.fact):
            yield (), f"the fact {solution.fact!r} is not a key fact, so it has no ablations"
    for index, granted in enumerate(manifest.granted_facts):
        path: KeyPath = ("granted_facts", index)
        if isinstance(granted, str):
            yield from _granted_fact(material, granted, path, holder)
            continue
        yield from _limits(material, granted, path, holder)
        for number, fact in enumerate(granted.facts):
            yield from _granted_fact(material, fact, (*path, "facts", number), holder & material.variants_of(granted))
    for index, signoff in enumerate(manifest.granted_signoffs):
        path = ("granted_signoffs", index)
        yield from _limits(material, signoff, path, holder)
        for message in _granted_signoff(material, signoff.topic, holder & material.variants_of(signoff)):
            yield (*path, "topic"), message
    if manifest.expect is not None and manifest.expect[0] > manifest.expect[1]:
        yield ("expect",), f"the range is empty: {manifest.expect[0]} is above {manifest.expect[1]}"
    yield from _base(material, solution, holder)


def _limits(material: Material, granted: Limited, path: KeyPath, holder: frozenset[str]) -> Iterator[Finding]:
    """Find unknown variants in a grant's limits, or limits that leave it nowhere."""
    unknown_variants = list(material.limits(granted, path))
    yield from unknown_variants
    if holder and not unknown_variants and not holder & material.variants_of(granted):
        yield path, f"is granted in none of the variants that have this solution ({', '.join(by_number(holder))})"


def _granted_fact(material: Material, name: str, path: KeyPath, holder: frozenset[str]) -> Iterator[Finding]:
    """Find that no such fact exists, or not in all the variants (`holder`) in which it is granted."""
    fact = material.file.model.facts.get(name) if material.file.model is not None else None
    if fact is None:
        yield from material.fact(name, path, holder)
    elif missing := holder - material.variants_of(fact):
        example = f"{{facts: [{name}], {_limit(holder, missing)}}}"
        yield path, f"the fact {name!r} does not exist in {', '.join(by_number(missing))}, where it is granted; write {example}"


def _granted_signoff(material: Material, reference: str, holder: frozenset[str]) -> Iterator[str]:
    """Find that no such sign-off can be had, or not in all the variants (`holder`) in which it is granted."""
    people = material.people.model
    if people is None:
        return
    person_name, topic_name = reference.split("/")
    topics = material.topic_names(person_name)
    if person_name not in people.people:
        if person_name not in material.people_names:
            yield unknown(person_name, "a person of people.yaml", material.people_names)
        return
    if topic_name not in topics:
        yield unknown(topic_name, f"a topic of {person_name}", topics)
        return
    person = people.people[person_name]
    topic = person.topics.get(topic_name)
    if topic is None:
        return  # unreadable, and reported as such
    if missing := holder - (material.variants_of(person) & material.variants_of(topic)):
        others = [
            f"{name}/{key}"
            for name, who in people.people.items()
            for key, other in who.topics.items()
            if topic.signoff and other.signoff and other.signoff.id == topic.signoff.id
            if other is not topic and missing <= material.variants_of(who) & material.variants_of(other)
        ]
        instead = f"; there {' or '.join(repr(each) for each in others)} gives it" if others else ""
        example = f"{{topic: {reference}, {_limit(holder, missing)}}}"
        yield f"the topic {reference!r} does not exist in {', '.join(by_number(missing))}, where it is granted{instead}; write {example}"
    if topic.signoff is None and ("people", person_name, "topics", topic_name, "signoff") not in material.people.dropped:
        yield f"the topic {reference!r} gives no sign-off"


def _limit(granted: frozenset[str], missing: frozenset[str]) -> str:
    """The shorter way to say that a grant holds in the variants of `granted` without `missing`."""
    left = by_number(granted - missing)
    if left and len(left) < len(missing):
        return f"only_in: [{', '.join(left)}]"
    return f"not_in: [{', '.join(by_number(missing))}]"


def _base(material: Material, solution: Solution, holder: frozenset[str]) -> Iterator[Finding]:
    base = solution.manifest.based_on
    if base is None:
        return
    if base not in material.solutions:
        if base not in material.unreadable_solutions:
            yield ("based_on",), unknown(base, "a solution", material.solutions)
        return
    yield from missing_in("solution", base, material.solutions[base].manifest, holder, ("based_on",))
    way = [solution.name]
    while base is not None and base in material.solutions and base not in way:
        way.append(base)
        base = material.solutions[base].manifest.based_on
    if base == solution.name:
        yield ("based_on",), f"the solutions are based on each other: {' -> '.join([*way, solution.name])}"


def _script(solution: Solution) -> Iterator[Problem]:
    script = solution.manifest.script
    if script is None:
        return
    file = solution.folder / script
    if not file.is_file():
        yield solution.source.problem(("script",), f"{script!r} is not a file of the solution's folder")
    elif isinstance(parsed := parse(file), Problem):
        yield parsed

"""solutions/: what is there, what each is based on and granted, and which key facts have no ablation."""

from __future__ import annotations

from collections.abc import Iterator

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
    for index, fact in enumerate(manifest.granted_facts):
        yield from _granted_fact(material, fact, ("granted_facts", index), holder)
    for index, granted in enumerate(manifest.granted_signoffs):
        for _, message in _granted(material, granted.topic, holder):
            yield ("granted_signoffs", index, "topic"), message
    if manifest.expect is not None and manifest.expect[0] > manifest.expect[1]:
        yield ("expect",), f"the range is empty: {manifest.expect[0]} is above {manifest.expect[1]}"
    yield from _base(material, solution, holder)


def _granted_fact(material: Material, name: str, path: KeyPath, holder: frozenset[str]) -> Iterator[Finding]:
    """Find that no such fact exists, or in none of the solution's variants."""
    fact = material.file.model.facts.get(name) if material.file.model is not None else None
    if fact is None:
        yield from material.fact(name, path, holder)
    elif holder and not holder & material.variants_of(fact):
        yield path, _nowhere("fact", name, holder)


def _nowhere(kind: str, name: str, holder: frozenset[str]) -> str:
    return f"the {kind} {name!r} exists in none of the variants that have this solution ({', '.join(by_number(holder))})"


def _granted(material: Material, reference: str, holder: frozenset[str]) -> Iterator[Finding]:
    """Find that no such sign-off can be had: ``person/topic`` of people.yaml."""
    people = material.people.model
    if people is None:
        return
    person_name, topic_name = reference.split("/")
    topics = material.topic_names(person_name)
    if person_name not in people.people:
        yield from material.person(person_name, (), holder)
        return
    if topic_name not in topics:
        yield (), unknown(topic_name, f"a topic of {person_name}", topics)
        return
    person = people.people[person_name]
    topic = person.topics.get(topic_name)
    if topic is None:
        return  # unreadable, and reported as such
    if holder and not holder & material.variants_of(person) & material.variants_of(topic):
        yield (), _nowhere("topic", reference, holder)
    if topic.signoff is None and ("people", person_name, "topics", topic_name, "signoff") not in material.people.dropped:
        yield (), f"the topic {reference!r} gives no sign-off"


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

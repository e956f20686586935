"""What the checks look at: the parts of a scenario as far as they could be read, and the names they may refer to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_fdegym.scenario.model import Level, Limited, PeopleFile, ScenarioFile
from pytest_fdegym.scenario.problems import KeyPath, Problem, unknown
from pytest_fdegym.scenario.scenario import Brief, Solution
from pytest_fdegym.scenario.validation import Validated, value_at
from pytest_fdegym.scenario.yaml_source import YamlSource

Finding = tuple[KeyPath, str]
"""Where in the YAML file at hand, and what is wrong."""


@dataclass(frozen=True)
class Material:
    """The parts of a scenario. A model is None where the file cannot be read at all."""

    folder: Path
    file_source: YamlSource
    people_source: YamlSource
    file: Validated[ScenarioFile]
    people: Validated[PeopleFile]
    briefs: Mapping[tuple[Level, str], Brief]
    solutions: Mapping[str, Solution]
    unreadable_solutions: Collection[str]
    """Names of solutions whose manifest cannot be read."""

    @property
    def complete(self) -> bool:
        """Whether both files could be read in full, so that what is not there is really missing."""
        return self.file.model is not None and self.people.model is not None and not self.file.dropped and not self.people.dropped

    @cached_property
    def variants(self) -> frozenset[str]:
        return self.names("variants")

    def names(self, key: str) -> frozenset[str]:
        """The names declared under `key` of scenario.yaml, unreadable entries included."""
        return _keys(self.file_source.data, (key,))

    @cached_property
    def people_names(self) -> frozenset[str]:
        return _keys(self.people_source.data, ("people",))

    def topic_names(self, person: str) -> frozenset[str]:
        return _keys(self.people_source.data, ("people", person, "topics"))

    def readable(self, *key: str) -> bool:
        """Whether scenario.yaml could be read with all that stands below `key`."""
        return self.file.model is not None and not any(path[: len(key)] == key or key[: len(path)] == path for path in self.file.dropped)

    def variants_of(self, limited: Limited | None) -> frozenset[str]:
        """The variants in which something exists; all of them for None."""
        return self.variants if limited is None else frozenset(each for each in self.variants if limited.exists_in(each))

    def limits(self, limited: Limited, path: KeyPath) -> Iterator[Finding]:
        """Find variants that a limit names and scenario.yaml does not have."""
        for key in ("only_in", "not_in"):
            for index, variant in enumerate(getattr(limited, key) or ()):
                if self.variants and variant not in self.variants:
                    yield (*path, key, index), unknown(variant, "a variant of scenario.yaml", self.variants)

    def fact(self, name: str, path: KeyPath, holder: frozenset[str]) -> Iterator[Finding]:
        """Find a fact that does not exist, or not in all the variants (`holder`) that refer to it at `path`."""
        yield from self._reference("fact", "facts", name, path, holder)

    def incident(self, name: str, path: KeyPath, holder: frozenset[str]) -> Iterator[Finding]:
        yield from self._reference("incident", "incidents", name, path, holder)

    def _reference(self, kind: str, key: str, name: str, path: KeyPath, holder: frozenset[str]) -> Iterator[Finding]:
        if self.file.model is None:
            return
        known = self.names(key)
        article = "an" if kind[0] in "aeiou" else "a"
        if name not in known:
            yield path, unknown(name, f"{article} {kind} of scenario.yaml", known)
            return
        yield from missing_in(kind, name, getattr(self.file.model, key).get(name), holder, path)

    def person(self, name: str, path: KeyPath, holder: frozenset[str]) -> Iterator[Finding]:
        """Find a person who does not exist, or not in all the variants (`holder`) that refer to it at `path`."""
        if self.people.model is None:
            return
        if name not in self.people_names:
            yield path, unknown(name, "a person of people.yaml", self.people_names)
            return
        yield from missing_in("person", name, self.people.model.people.get(name), holder, path)

    def report(self, source: YamlSource, findings: Iterable[Finding]) -> Iterator[Problem]:
        """Findings as problems, apart from those about what was left out, or about the lack of it in what held it."""
        dropped = self.file.dropped if source is self.file_source else self.people.dropped if source is self.people_source else []
        for path, message in findings:
            if not any(path[: len(each)] == each or (path and path == each[:-1]) for each in dropped):
                yield source.problem(path, message)


def missing_in(kind: str, name: str, limited: Limited | None, holder: frozenset[str], path: KeyPath) -> Iterator[Finding]:
    """Find that something exists in fewer variants than what refers to it."""
    if limited is not None and (missing := [each for each in by_number(holder) if not limited.exists_in(each)]):
        yield path, f"the {kind} {name!r} does not exist in {', '.join(missing)}, where it is referred to"


def signoff_ids(people: PeopleFile) -> frozenset[str]:
    """The sign-offs that some topic gives."""
    return frozenset(topic.signoff.id for person in people.people.values() for topic in person.topics.values() if topic.signoff)


def by_number(variants: Iterable[str]) -> list[str]:
    """Variants in the order of their numbers."""
    return sorted(variants, key=lambda variant: (len(variant), variant))


def one_of(path: KeyPath, value: Any, kinds: tuple[str, ...]) -> Iterator[Finding]:
    """Find that not exactly one of the keys `kinds` is given."""
    given = [kind for kind in kinds if getattr(value, kind) is not None]
    if len(given) != 1:
        found = f"{', '.join(given)} are given" if given else "none is given"
        yield path, f"exactly one of {', '.join(kinds)} is expected; {found}"


def _keys(data: Any, path: KeyPath) -> frozenset[str]:
    found = value_at(data, path)
    return frozenset(key for key in found if isinstance(key, str)) if isinstance(found, dict) else frozenset()

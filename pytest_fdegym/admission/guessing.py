"""Checks of evidence gates that need no agent: is what a person wants to see more than a guess, and is it asked for as what it is?

`evidence` warns: how much of a guess a gate may leave is for the author to judge.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_fdegym.people.figures import GUESSED, chance_of_a_message, figures_allowed
from pytest_fdegym.people.gates import complete, figures_of, leaves, scan
from pytest_fdegym.people.patterns import identifiers_of
from pytest_fdegym.people.reading import read
from pytest_fdegym.scenario.model import Condition
from pytest_fdegym.scenario.problems import KeyPath
from pytest_fdegym.workspace.prepare import PreparedTask


def evidence(prepared: PreparedTask) -> tuple[str, ...]:
    """What to look at in the gates of `prepared`, as warnings with file and line."""
    source = prepared.scenario.people_source
    return tuple(dict.fromkeys(str(source.problem(path, text)) for path, text in _found(prepared)))


def _found(prepared: PreparedTask) -> Iterator[tuple[KeyPath, str]]:
    for name, person in prepared.people.people.items():
        for topic, spec in person.topics.items():
            path: KeyPath = ("people", name, "topics", topic)
            if spec.evidence is not None:
                for item, condition in spec.evidence.items.items():
                    for text in (*_guessed(condition), *_phrases(condition)):
                        yield (*path, "evidence", "items", item), text
                if complete(spec.evidence, scan(spec.evidence.items.values(), read(spec.evidence.miss)), frozenset()):
                    yield (*path, "evidence", "miss"), "the refusal itself, repeated, has in it all that is asked for"
            if spec.exclusive is not None and spec.exclusive.shown is not None:
                for text in _phrases(spec.exclusive.shown):
                    yield (*path, "exclusive", "shown"), text


def _guessed(condition: Condition) -> Iterator[str]:
    """The figure that is guessed most easily, where that is too easy."""
    item = figures_of(condition)
    if not item:
        return
    leaf = max(item, key=lambda each: chance_of_a_message(each, item))
    chance = chance_of_a_message(leaf, item)
    if chance > GUESSED:
        beside = f", beside {len(item) - 1} others that would do," if len(item) > 1 else ""
        yield (
            f"who knows no more than the order of magnitude of {leaf.number:.10g}{beside} and names {figures_allowed(leaf, item)} figures "
            f"in a message passes in {chance:.0%} of cases; allow less tolerance or fewer figures"
        )


def _phrases(condition: Condition) -> Iterator[str]:
    for leaf in leaves(condition):
        for identifier in identifiers_of(leaf.phrase) if leaf.phrase is not None else ():
            plain = identifier.replace("-", " ")
            yield f"the phrase stands for the identifier {plain!r} and counts as that; say so with 'id', which knows other spellings, too"

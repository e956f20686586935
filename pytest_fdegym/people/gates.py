"""Evidence gates: which of the things a person wants to see a message shows. Patterns only, no model; the same every time.

Conditions are looked at one by one, and what one message shows is kept (``Shown``), so evidence may come in several messages. What
belongs together (an id with its amount) is said with `near`. Negation ("it is not 212") cannot be decided by a pattern: ask for a
context word near the number, and for values that only the data gives.

Stuffing is bounded (``offers``): beside too many others of the kind, in one message or over the messages to one person, nothing counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.people.offers import offer
from pytest_fdegym.people.reading import Reading, read
from pytest_fdegym.scenario.model import Condition, Evidence

_KINDS = ("number", "id", "ids", "document", "phrase", "fact", "trial_report", "all", "any")

Shown = Mapping[Condition, frozenset[str]]
"""What a person has been shown so far: per condition that looks into messages, what was found for it."""
Named = Mapping[Condition, frozenset[str]]
"""What else of the kind was named to a person, per condition that looks into messages."""


@dataclass(frozen=True)
class Look:
    """What one message shows of some conditions, and what else of their kinds it names."""

    shown: Shown = field(default_factory=dict)
    others: Named = field(default_factory=dict)


def check_condition(condition: Condition, where: str) -> None:
    """Raise ScenarioError, naming `where`, for a condition that cannot be evaluated."""
    kinds = [kind for kind in _KINDS if getattr(condition, kind) is not None]
    if len(kinds) != 1:
        raise ScenarioError(f"{where}: exactly one of {', '.join(_KINDS)} is expected, found {', '.join(kinds) or 'none'}.")
    if isinstance(condition.number, str) or isinstance(condition.ids, str):
        raise ScenarioError(f"{where}: {kinds[0]} is still the template {getattr(condition, kinds[0])!r}; a filled-in value is expected.")
    if condition.ids is not None and condition.at_least > len(set(condition.ids)):
        raise ScenarioError(f"{where}: at_least is {condition.at_least}, but there are only {len(set(condition.ids))} ids.")
    for name in (condition.id, *(condition.ids or ()), condition.document):
        if name is not None and not re.search(r"[^\W_]", name):
            raise ScenarioError(f"{where}: {name!r} has neither letters nor digits to be recognised by.")
    for pattern in (condition.phrase, condition.near):
        if pattern is not None:
            try:
                re.compile(pattern, re.IGNORECASE)
            except re.error as error:
                raise ScenarioError(f"{where}: {pattern!r} is not a regular expression: {error}.") from error
    for place, inner in enumerate((*(condition.all or ()), *(condition.any or ())), 1):
        check_condition(inner, f"{where} ({place})")


def check_evidence(evidence: Evidence, where: str) -> None:
    """Raise ScenarioError, naming `where`, for evidence that cannot be evaluated or never be complete."""
    if evidence.need is not None and evidence.need > len(evidence.items):
        raise ScenarioError(f"{where}: need is {evidence.need}, but there are only {len(evidence.items)} items.")
    for name, item in evidence.items.items():
        check_condition(item, f"{where}.{name}")


def leaves(condition: Condition) -> Iterator[Condition]:
    """Yield the conditions inside `condition` that look into messages."""
    if condition.fact is None and condition.all is None and condition.any is None:
        yield condition
    for inner in (*(condition.all or ()), *(condition.any or ())):
        yield from leaves(inner)


def look(
    conditions: Iterable[Condition], message: Reading, reports: tuple[str, ...] = (), before: Named | None = None, anywhere: bool = False
) -> Look:
    """What `message` shows of any of `conditions` after what was named `before`.

    `reports` are the ids of the trial reports so far. With `anywhere`, others count wherever they stand in the message.
    """
    shown: dict[Condition, frozenset[str]] = {}
    others: dict[Condition, frozenset[str]] = {}
    for condition in conditions:
        item = figures_of(condition)
        for leaf in leaves(condition):
            found = offer(leaf, message, item, reports)
            if found.right and found.counts((before or {}).get(leaf, frozenset())):
                shown[leaf] = shown.get(leaf, frozenset()) | found.right
            named = offer(leaf, message, item, reports, anywhere=True) if anywhere else found
            if named.others and named.is_read:
                others[leaf] = others.get(leaf, frozenset()) | named.others
    return Look(shown, others)


def scan(conditions: Iterable[Condition], message: Reading, reports: tuple[str, ...] = ()) -> Shown:
    """What `message` by itself shows of any of `conditions`, given the ids of the trial reports so far."""
    return look(conditions, message, reports).shown


def figures_of(condition: Condition) -> tuple[Condition, ...]:
    """The conditions on numbers in `condition`; a figure that meets one of them is no rival of another."""
    return tuple(dict.fromkeys(leaf for leaf in leaves(condition) if leaf.number is not None))


def merged(shown: Shown, more: Shown) -> dict[Condition, frozenset[str]]:
    """What was shown by either."""
    return {leaf: shown.get(leaf, frozenset()) | more.get(leaf, frozenset()) for leaf in (*shown, *more)}


def holds(condition: Condition, shown: Shown, facts: frozenset[str]) -> bool:
    """Whether `condition` is met by what was shown and by the facts in the ledger."""
    if condition.fact is not None:
        return condition.fact in facts
    if condition.all is not None:
        return all(holds(inner, shown, facts) for inner in condition.all)
    if condition.any is not None:
        return any(holds(inner, shown, facts) for inner in condition.any)
    found = len(shown.get(condition, ()))
    return found >= (condition.at_least if condition.ids is not None else 1)


def complete(evidence: Evidence, shown: Shown, facts: frozenset[str]) -> bool:
    """Whether as many items hold as are needed."""
    need = len(evidence.items) if evidence.need is None else evidence.need
    return sum(holds(item, shown, facts) for item in evidence.items.values()) >= need


def adds_a_piece(evidence: Evidence, before: Shown, now: Shown, facts: frozenset[str]) -> bool:
    """Whether `now` shows something of an item that what was shown `before` leaves open."""
    missing = [item for item in evidence.items.values() if not holds(item, before, facts)]
    return any(now.get(leaf, frozenset()) - before.get(leaf, frozenset()) for item in missing for leaf in leaves(item))


def stuffed(leaf: Condition, message: Reading, item: tuple[Condition, ...], before: Named) -> bool:
    """Whether `message` names so many of the kind, wherever they stand, that nobody's reading of it may count for `leaf`, one of `item`."""
    return not offer(leaf, message, item, anywhere=True).counts(before.get(leaf, frozenset()))


def satisfied(condition: Condition, message: str, facts: frozenset[str] = frozenset()) -> bool:
    """Whether one message alone meets `condition`, for authors who try out a gate."""
    return holds(condition, scan([condition], read(message)), facts)

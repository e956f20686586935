"""Evidence gates: which of the things a person wants to see a message shows. Patterns only, no model; the same every time.

Conditions are looked at one by one, and what one message shows is kept (``Shown``), so evidence may come in several messages. What
belongs together (an id with its amount) is said with `near`. Negation ("it is not 212") cannot be decided by a pattern: ask for a
context word near the number, and for values that only the data gives.

Stuffing is bounded. A number counts for nothing in a message that states more than `MAX_NUMBERS` different numbers, or that states
more than `MAX_RIVALS` others between half and double the expected one (those that satisfy `near` as well), fewer where the tolerance is
so wide that these would be a grid which no value slips through (`rivals`). An identifier
counts for nothing beside more than `MAX_RIVALS` others of the same form; of a set of identifiers, as many others as twice those
rightly named are borne.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.people.mentions import documents, key_of, same_form
from pytest_fdegym.people.numbers import Number
from pytest_fdegym.people.reading import Reading, read
from pytest_fdegym.scenario.model import Condition, Evidence

MAX_NUMBERS = 40
"""Different numbers in one message beyond which none counts."""
MAX_RIVALS = 8
"""Others of the kind that an honest message may name beside the right one."""
MIN_RIVALS = 3
"""Others that are allowed however wide the tolerance is."""
NEAR = 60
"""Characters between a match and the pattern in `near`."""
_UNIT = re.compile(r"[A-Za-z]{1,12}(?![\w-])")
_KINDS = ("number", "id", "ids", "document", "phrase", "fact", "trial_report", "all", "any")

Shown = Mapping[Condition, frozenset[str]]
"""What a person has been shown so far: per condition that looks into messages, what was found for it."""


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


def find(leaf: Condition, message: Reading, reports: tuple[str, ...] = ()) -> frozenset[str]:
    """What `message` shows for one leaf: names of what was found, empty when it shows nothing.

    `reports` are the ids of the trial reports that there are by now: naming one that does not exist yet shows nothing.
    """
    if leaf.number is not None:
        return frozenset({"number"}) if _shows_number(leaf, message) else frozenset()
    if leaf.id is not None:
        return _ids_shown(leaf, (leaf.id,), message)
    if leaf.ids is not None:
        return _ids_shown(leaf, tuple(leaf.ids), message)
    if leaf.trial_report is not None:
        return _ids_shown(leaf, reports, message) if reports else frozenset()
    if leaf.document is not None:
        return frozenset({"document"} if any(_near(leaf, message, *place) for place in documents(leaf.document, message)) else ())
    found = _pattern(leaf.phrase or "").finditer(message.text)
    return frozenset({"phrase"} if any(_near(leaf, message, *place.span()) for place in found) else ())


def scan(conditions: Iterable[Condition], message: Reading, reports: tuple[str, ...] = ()) -> dict[Condition, frozenset[str]]:
    """What `message` shows of any of `conditions`, given the ids of the trial reports so far."""
    hits = {leaf: find(leaf, message, reports) for condition in conditions for leaf in leaves(condition)}
    return {leaf: hit for leaf, hit in hits.items() if hit}


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


def stuffed(leaf: Condition, message: Reading) -> bool:
    """Whether `message` names so many of the kind, wherever they stand, that nobody's reading of it may count for `leaf`."""
    if isinstance(leaf.number, float | int):
        expected = abs(leaf.number)
        close = {n.values for n in message.numbers if any(expected / 2 <= abs(value) <= expected * 2 for value in n.values)}
        return len(close) > rivals(leaf) + 1 or len({number.values for number in message.numbers}) > MAX_NUMBERS
    identifiers = (leaf.id,) if leaf.id is not None else tuple(leaf.ids or ())
    if not identifiers:
        return False
    named = {mention.key for identifier in identifiers for mention in same_form(identifier, message)}
    right = named & {key_of(identifier) for identifier in identifiers}
    return len(named - right) > (max(MAX_RIVALS, 2 * len(right)) if leaf.ids is not None else MAX_RIVALS)


def satisfied(condition: Condition, message: str, facts: frozenset[str] = frozenset()) -> bool:
    """Whether one message alone meets `condition`, for authors who try out a gate."""
    return holds(condition, scan([condition], read(message)), facts)


def _shows_number(leaf: Condition, message: Reading) -> bool:
    expected = leaf.number
    if not isinstance(expected, float | int) or len({number.values for number in message.numbers}) > MAX_NUMBERS:
        return False
    tolerance = _tolerance(leaf, expected)
    right, stated = False, set()
    for number in message.numbers:
        hit = any(abs(value - expected) <= tolerance for value in number.values)
        close = any(abs(expected) / 2 <= abs(value) <= abs(expected) * 2 for value in number.values)
        if (hit or close) and _stands_for(leaf, message, number):
            right |= hit
            stated.add(number.values)
    return right and len(stated) <= rivals(leaf) + 1


def rivals(leaf: Condition) -> int:
    """How many other numbers a message may state beside the expected one: with their tolerances they cover about half of what lies between
    half and double of it, on a logarithmic scale, so that naming numbers blindly is more of a guess than a proof."""
    assert isinstance(leaf.number, float | int)  # the caller looked
    expected = abs(leaf.number)
    share = _tolerance(leaf, expected) / expected if expected else 1.0
    if share >= 1:
        return MIN_RIVALS
    covered = math.log((1 + share) / (1 - share))
    return max(MIN_RIVALS, min(MAX_RIVALS, int(math.log(4) / 2 / covered) - 1))


def _tolerance(leaf: Condition, expected: float) -> float:
    return max(abs(expected) * leaf.within, leaf.plus_minus, 1e-9 * max(1.0, abs(expected)))


def _stands_for(leaf: Condition, message: Reading, number: Number) -> bool:
    # "clause 7" is no count of seven, unless the author asks for a number near the word "clause".
    if number.label and not (leaf.near and _pattern(leaf.near).search(number.label)):
        return False
    # A unit that is glued to its number ("10h") has no word boundary before it.
    unit = _UNIT.match(message.text, number.end)
    glued = leaf.near is not None and unit is not None and _pattern(leaf.near).search(unit[0])
    return bool(glued) or _near(leaf, message, number.start, number.end)


def _ids_shown(leaf: Condition, identifiers: tuple[str, ...], message: Reading) -> frozenset[str]:
    wanted = {key_of(identifier) for identifier in identifiers}
    forms = {re.sub(r"[0-9]", "0", identifier.lower()): identifier for identifier in identifiers}
    named = {mention for identifier in forms.values() for mention in same_form(identifier, message)}
    right = {mention.key for mention in named if mention.key in wanted and _near(leaf, message, mention.start, mention.end)}
    others = {mention.key for mention in named} - wanted
    allowed = max(MAX_RIVALS, 2 * len(right)) if leaf.ids is not None else MAX_RIVALS
    return frozenset(right) if len(others) <= allowed else frozenset()


def _near(leaf: Condition, message: Reading, start: int, end: int) -> bool:
    if leaf.near is None:
        return True
    # Matches are looked for in the whole message: a window would cut words and make "deadline" a "line".
    return any(max(place[0] - end, start - place[1]) <= NEAR for place in _places(leaf.near, message.text))


@lru_cache(maxsize=256)
def _places(pattern: str, text: str) -> tuple[tuple[int, int], ...]:
    return tuple(found.span() for found in _pattern(pattern).finditer(text))


@lru_cache(maxsize=512)
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)

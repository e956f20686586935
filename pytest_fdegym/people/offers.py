"""What a message offers for a condition: what is right, and what else of the kind it names. Too much else, and it shows nothing.

Rivals of a figure are others that are close to it; of an identifier, others of its form (a phrase that stands for an identifier counts as
that identifier); of other phrases and of documents, the other entries of a list in which they stand.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_fdegym.people.figures import figures_allowed, is_close, is_right
from pytest_fdegym.people.mentions import documents, identifiers_in, key_of, others_allowed, same_form
from pytest_fdegym.people.numbers import Number
from pytest_fdegym.people.patterns import identifiers_of
from pytest_fdegym.people.reading import Reading
from pytest_fdegym.scenario.model import Condition

MAX_NUMBERS = 40
"""Different numbers in one message beyond which none counts."""
MAX_ENTRIES = 8
"""Other entries of a list beyond which nothing in it is said."""
CORRECTIONS = 2
"""Rivals beyond those of one message that somebody may have named over all his messages to a person and still be read as before."""
NEAR = 60
"""Characters between a match and the pattern in `near`."""
_ENTRY_WORDS = 3
_BETWEEN_ENTRIES = re.compile(r"[,;|\n/]| - | or | and ")
_UNIT = re.compile(r"[A-Za-z]{1,12}(?![\w-])")


@dataclass(frozen=True)
class Offer:
    """What one message names for one condition, as comparable texts."""

    right: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    most: int = 0
    """How many others the message may name beside what is right."""

    @property
    def is_read(self) -> bool:
        """Whether it names no more than one honest message would; where nothing is right, one of the others stands in its place."""
        return len(self.others) <= self.most + (not self.right)

    def counts(self, before: frozenset[str]) -> bool:
        """Whether it is believed after the others that were named `before`: who has named many is believed only without any other."""
        if not self.is_read:
            return False
        return not self.others or len(self.others | before) <= self.most + CORRECTIONS


def offer(leaf: Condition, message: Reading, item: tuple[Condition, ...], reports: Sequence[str] = (), anywhere: bool = False) -> Offer:
    """What `message` offers for `leaf`, one of `item`; `anywhere` takes others into account that `near` would leave out.

    `reports` are the ids of the trial reports that there are by now: naming one that does not exist yet shows nothing.
    """
    if leaf.number is not None:
        return _figures(leaf, message, item, anywhere)
    if leaf.id is not None:
        return _identifiers(leaf, (leaf.id,), message, anywhere)
    if leaf.ids is not None:
        return _identifiers(leaf, tuple(leaf.ids), message, anywhere)
    if leaf.trial_report is not None:
        return _identifiers(leaf, tuple(reports), message, anywhere) if reports else Offer()
    if leaf.document is not None:
        shown = any(near(leaf, message, *place) and not in_list(message, *place) for place in documents(leaf.document, message))
        return Offer(frozenset({"document"} if shown else ()))
    return _phrase(leaf, message)


def most_others(leaf: Condition, item: tuple[Condition, ...], identifiers: Sequence[str] = (), right: int = 1) -> int:
    """How many others of the kind a message may name: of a figure, or of `identifiers` beside `right` right ones."""
    if leaf.number is not None:
        return figures_allowed(leaf, item) - 1
    fewest = min(map(others_allowed, identifiers), default=0)
    return max(fewest, 2 * right) if leaf.ids is not None else fewest


def near(leaf: Condition, message: Reading, start: int, end: int) -> bool:
    """Whether what `near` asks for stands close to a passage of `message`."""
    if leaf.near is None:
        return True
    # Matches are looked for in the whole message: a window would cut words and make "deadline" a "line".
    places = _places(leaf.near, message.text)
    after = bisect_right(places, start, key=lambda place: place[0])
    return any(max(place[0] - end, start - place[1]) <= NEAR for place in places[max(0, after - 1) : after + 1])


def in_list(message: Reading, start: int, end: int) -> bool:
    """Whether a passage is an entry of a list of so many words that it says nothing; entries with a digit are no rivals of a word."""
    entries = _entries(message.lines)
    mine = bisect_right(entries, start, key=lambda entry: entry[0]) - 1
    if entries[mine][1] < end or not _is_short(message.lines, entries[mine]):
        return False
    others = set[str]()
    for step in (1, -1):
        place = mine + step
        while 0 <= place < len(entries) and len(others) <= MAX_ENTRIES and _is_short(message.lines, entries[place]):
            entry = message.lines[slice(*entries[place])].strip().casefold()
            others |= set() if not entry or re.search("[0-9]", entry) else {entry}
            place += step
    return len(others) > MAX_ENTRIES


def _figures(leaf: Condition, message: Reading, item: tuple[Condition, ...], anywhere: bool) -> Offer:
    if len({number.values for number in message.numbers}) > MAX_NUMBERS:
        return Offer(others=frozenset(map(str, range(MAX_NUMBERS))))
    right, others = "", set[str]()
    for number in message.numbers:
        hit = any(is_right(value, leaf) for value in number.values)
        if not hit and not any(is_close(value, leaf) for value in number.values):
            continue
        stands = _stands_for(leaf, message, number)
        stated = "/".join(f"{value:.10g}" for value in sorted(number.values))
        if hit and stands and not right:
            right = stated
        elif (stands or (anywhere and not number.label)) and stated != right and not _meets_another(number, leaf, item):
            others.add(stated)
    return Offer(frozenset({"number"} if right else ()), frozenset(others), most_others(leaf, item))


def _meets_another(number: Number, leaf: Condition, item: tuple[Condition, ...]) -> bool:
    """Whether a figure is what another condition of `item` looks for, and not one more guess at this one."""
    others = [each for each in item if each != leaf]
    hit = any(is_right(value, leaf) for value in number.values)
    return any(value == each.number if hit else is_right(value, each) for each in others for value in number.values)


def _stands_for(leaf: Condition, message: Reading, number: Number) -> bool:
    # "clause 7" is no count of seven, unless the author asks for a number near the word "clause".
    if number.label and not (leaf.near and compiled(leaf.near).search(number.label)):
        return False
    # A unit that is glued to its number ("10h") has no word boundary before it.
    unit = _UNIT.match(message.text, number.end)
    glued = leaf.near is not None and unit is not None and compiled(leaf.near).search(unit[0])
    return bool(glued) or near(leaf, message, number.start, number.end)


def _identifiers(leaf: Condition, identifiers: tuple[str, ...], message: Reading, anywhere: bool) -> Offer:
    wanted = {key_of(identifier) for identifier in identifiers}
    named = set(_of_forms(identifiers, message))
    right = {key for key, start, end in named if key in wanted and near(leaf, message, start, end)}
    borne = {key for key, _, _ in named} & wanted if anywhere else right
    return Offer(frozenset(right), frozenset({key for key, _, _ in named} - wanted), most_others(leaf, (), identifiers, len(borne)))


def _phrase(leaf: Condition, message: Reading) -> Offer:
    assert leaf.phrase is not None  # the last of the kinds that look into messages
    found = [place.span() for place in compiled(leaf.phrase).finditer(message.text)]
    shown = any(near(leaf, message, *place) and not in_list(message, *place) for place in found)
    matched = tuple(dict.fromkeys(name for start, end in found for name in identifiers_in(message.text[start:end])))
    identifiers = identifiers_of(leaf.phrase) or matched
    wanted = {key_of(identifier) for identifier in (*identifiers, *matched)}
    others = {key for key, _, _ in _of_forms(identifiers, message)} - wanted
    return Offer(frozenset({"phrase"} if shown else ()), frozenset(others), most_others(leaf, (), identifiers))


def _of_forms(identifiers: Iterable[str], message: Reading) -> Iterator[tuple[str, int, int]]:
    """Every identifier of the form of any of these that `message` names, and where."""
    for identifier in {re.sub(r"[0-9]", "0", identifier.lower()): identifier for identifier in identifiers}.values():
        for mention in same_form(identifier, message):
            yield mention.key, mention.start, mention.end


@lru_cache(maxsize=64)
def _entries(lines: str) -> tuple[tuple[int, int], ...]:
    between = [found.span() for found in _BETWEEN_ENTRIES.finditer(lines)]
    begins = [0, *(end for _, end in between)]
    return tuple(zip(begins, [*(start for start, _ in between), len(lines)], strict=True))


def _is_short(lines: str, entry: tuple[int, int]) -> bool:
    return len(lines[entry[0] : entry[1]].split()) <= _ENTRY_WORDS


@lru_cache(maxsize=256)
def _places(pattern: str, text: str) -> tuple[tuple[int, int], ...]:
    return tuple(found.span() for found in compiled(pattern).finditer(text))


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    """The author's pattern, case aside."""
    return re.compile(pattern, re.IGNORECASE)

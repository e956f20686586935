"""Repairing the spelling of words that are nearly one of the company's own."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from pytest_fdegym.people.router.words import STOP_WORDS, stem

_WORD = re.compile(r"\b[A-Za-z]{5,24}\b")  # the work grows with the square of the length, and no word of theirs is longer
_LONG = 9  # letters from which two mistakes are forgiven


def distance(a: str, b: str) -> int:
    """Return the edit distance of `a` and `b`; swapped neighbours count once (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        before_that, before = before, row
        row = [i]
        for j, right in enumerate(b, 1):
            cost = min(before[j] + 1, row[-1] + 1, before[j - 1] + (left != right))
            if i > 1 and j > 1 and left == b[j - 2] and a[i - 2] == right:
                cost = min(cost, before_that[j - 2] + 1)
            row.append(cost)
    return row[-1]


def _shortened(word: str) -> set[str]:
    """`word`, and `word` without one letter, or for a long word without two."""
    once = {word[:i] + word[i + 1 :] for i in range(1, len(word))}
    if len(word) < _LONG:
        return once | {word}
    return once | {word} | {short[:i] + short[i + 1 :] for short in once for i in range(1, len(short))}


class Spelling:
    """Knows the words of a company."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = frozenset(word.lower() for word in known if word.isalpha())
        self._stems = frozenset(stem(word) for word in self._known)
        self._near: dict[str, list[str]] = defaultdict(list)
        for word in sorted(word for word in self._known if len(word) >= 5):
            for short in _shortened(word):
                self._near[short].append(word)

    def _repaired(self, word: str) -> str:
        lower = word.lower()
        if lower in self._known or lower in STOP_WORDS or stem(lower) in self._stems:
            return word
        found: list[tuple[int, str]] = []
        for candidate in {candidate for short in _shortened(lower) for candidate in self._near.get(short, ())}:
            edits = distance(lower, candidate)
            same_length = len(lower) == len(candidate) and sorted(lower) != sorted(candidate)  # another letter, not swapped ones
            allowed = 2 if min(len(lower), len(candidate)) >= _LONG else 1
            if edits <= allowed and not (same_length and len(lower) < 7):
                found.append((edits, candidate))
        found.sort()
        return found[0][1] if found and (len(found) == 1 or found[0][0] < found[1][0] or found[0][1][:4] == found[1][1][:4]) else word

    def repair(self, text: str) -> str:
        """Return `text` with words that are one slip away from a known one (two in long words) replaced by it."""
        return _WORD.sub(lambda match: self._repaired(match.group()), text)

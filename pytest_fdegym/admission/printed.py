"""Finds values of a statement in texts: a number or an identifier that stands there together with the statement's own words. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from pytest_fdegym.people.numbers import Number
from pytest_fdegym.people.reading import Reading, read
from pytest_fdegym.people.router.words import content_stems

NEAR = 100
"""Characters around a number in which the statement's words are looked for."""
LEAST_WORDS = 2
LEAST_SHARE = 0.3
"""Of the statement's words that carry meaning, near the number."""
LEAST_PHRASE = 3
"""Words that a text value needs to be told from ordinary speech."""
_IDENTIFIER = re.compile(r"(?<![\w.-])(?=[\w./-]*[0-9])[A-Za-z][A-Za-z0-9]*(?:[-_./][A-Za-z0-9]+)*(?![\w-])")
_UNIT = re.compile(r"[ -]?([A-Za-z%$€£]+)")


@dataclass(frozen=True)
class Statement:
    """What a text may give away: the `text` with its values, and the words that tell what it is about."""

    text: str

    @cached_property
    def reading(self) -> Reading:
        """The text as people read it."""
        return read(self.text)

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """Names of letters and digits, small letters."""
        return frozenset(found[0].lower() for found in _IDENTIFIER.finditer(self.reading.text))

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """Numbers that are values: neither references (clause 7) nor parts of identifiers."""
        return tuple(number for number in self.reading.numbers if not number.label)

    @cached_property
    def words(self) -> frozenset[str]:
        """Stems of what it is about; numbers and identifiers aside."""
        plain = _IDENTIFIER.sub(" ", self.reading.text)
        return frozenset(word for word in content_stems(plain) if word.isalpha())

    def only(self, other: Statement) -> Statement:
        """This statement with the values that `other`, its twin, does not state; the words stay."""
        return _Differing(self.text, other)


@dataclass(frozen=True)
class _Differing(Statement):
    twin: Statement

    @cached_property
    def identifiers(self) -> frozenset[str]:
        return Statement(self.text).identifiers - self.twin.identifiers

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        known = {number.values for number in self.twin.numbers}
        return tuple(number for number in Statement(self.text).numbers if number.values not in known)


@dataclass(frozen=True)
class Hit:
    """A value of a statement in a text; `line` counts from 1."""

    line: int
    value: str


class Document:
    """A text in which values are looked for; read once."""

    def __init__(self, text: str) -> None:
        # Line by line, so that offsets lead back to the lines of the file.
        self._lines = [read(line).text for line in text.split("\n")]
        self._starts: list[int] = []
        at = 0
        for line in self._lines:
            self._starts.append(at)
            at += len(line) + 1
        self._text = " ".join(self._lines)

    @cached_property
    def _reading(self) -> Reading:
        return Reading(self._text)

    def find(self, statement: Statement) -> Iterator[Hit]:
        """Yield where a value of `statement` stands: an identifier anywhere, a number among the statement's words."""
        for found in _IDENTIFIER.finditer(self._text):
            if found[0].lower() in statement.identifiers:
                yield Hit(self._line(found.start()), found[0])
        wanted = {value: number for number in statement.numbers for value in number.values}
        if not wanted:
            return
        for stated in self._reading.numbers:
            value = next((value for value in stated.values if value in wanted), None)
            if value is not None and not stated.label and self._speaks_of(statement, stated, wanted[value]):
                yield Hit(self._line(stated.start), self._text[stated.start : stated.end])

    def _speaks_of(self, statement: Statement, stated: Number, meant: Number) -> bool:
        units = [_UNIT.match(text, end) for text, end in ((self._text, stated.end), (statement.reading.text, meant.end))]
        if units[0] and units[1] and units[0][1][0].lower() != units[1][1][0].lower():
            return False  # "10 days" is not 10 h; a cell of a table has no unit
        around = set(content_stems(self._text[max(0, stated.start - NEAR) : stated.end + NEAR]))
        common = len(statement.words & around)
        return common >= max(LEAST_WORDS, LEAST_SHARE * len(statement.words))

    def _line(self, place: int) -> int:
        low = 0
        for number, start in enumerate(self._starts):
            if start > place:
                break
            low = number
        return low + 1

"""A message made comparable: one spelling for dashes, quotes, spaces and digits, so that patterns need not know them all."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property

from pytest_fdegym.people.numbers import Number, numbers_in

_DASHES = re.compile("[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u201c": '"', "\u201d": '"'})
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True)
class Reading:
    """A message as gates read it. `lines` keeps line breaks and tabs as ``\\n``; `text` has spaces there, at the same offsets."""

    lines: str

    @cached_property
    def text(self) -> str:
        """The message with single spaces between words."""
        return self.lines.replace("\n", " ")

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """The numbers that the message states."""
        return tuple(numbers_in(self.lines))


def read(message: str) -> Reading:
    """Normalise `message` (Unicode NFKC, plain dashes, quotes and spaces, no invisible characters)."""
    shown = "".join(character for character in message if unicodedata.category(character) != "Cf")
    shown = unicodedata.normalize("NFKC", shown).translate(_QUOTES)
    shown = _DASHES.sub("-", shown)
    return Reading(_SPACES.sub(lambda run: " " if run[0].strip(" ") == "" else "\n", shown).strip())

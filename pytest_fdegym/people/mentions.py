"""Which identifiers and documents a message names, the way people abbreviate them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from pytest_fdegym.people.reading import Reading, read

_PARTS = re.compile(r"[^\W\d_]+|[0-9]+")
_SEPARATOR = r"[\s\-_/.#:]{0,3}"
_NUMBER_WORD = r"(?:(?:no|nr|number)\b[.:]?\s?#?)?"
_SMALL = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"]
_ROMAN = ["ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"]
"""From two on: "Amendment I" is more often somebody who speaks of himself."""
_ORDINAL = rf"(?:{'|'.join(_ORDINALS)}|[0-9]{{1,2}}(?:st|nd|rd|th))"
# "IB-104, 107 and -109", "Amendments 1 and 3": the prefix is said once.
_AND = r"(?: ?[,/;&] ?(?:and |or )?| and | or )"
_FOLLOWING = rf"{_AND}-?[0-9]{{1,6}}(?![^\W_]|[.:%-][0-9]| ?%)"
_SERIES = re.compile(rf"(?<![^\W_])([^\W\d_]{{1,12}}[-_ ]?(?:[0-9]{{1,6}}-)?)([0-9]{{1,6}})((?:{_FOLLOWING})+)")
_WORD_AND_DIGITS = re.compile(rf"[^\W\d_]{{1,20}}(?:{_SEPARATOR}{_NUMBER_WORD}\s?[0-9]{{1,8}})+", re.IGNORECASE)
_WORD_AND_WORD = re.compile(
    rf"([^\W\d_]{{4,20}}){_SEPARATOR}{_NUMBER_WORD}\s?(?<![^\W_])({'|'.join((*_SMALL, *_ROMAN))})(?![^\W_])", re.IGNORECASE
)
_ORDINAL_AND_WORD = re.compile(rf"(?<![^\W_])({_ORDINAL}) ([^\W\d_]{{4,20}})", re.IGNORECASE)
_LONG_NUMBER = re.compile(r"(?<![^\W_])[0-9]{4,8}(?![^\W_])")

MAX_OTHERS = 8
"""Others of the form of an identifier that an honest message may name beside the right one."""
_OTHERS_BY_DIGITS = {1: 2, 2: 4}


@dataclass(frozen=True)
class Mention:
    """An identifier in its comparable form, and where it stands."""

    key: str
    start: int
    end: int


def key_of(identifier: str) -> str:
    """The comparable form of an identifier: parts in lower case, separators aside (``INV-2024-0077`` is ``inv 2024 0077``)."""
    return _key(_PARTS.findall(read(identifier).text))


def identifiers_in(text: str) -> Iterator[str]:
    """Yield what in `text` is a name with a number, spelled plainly: ``KV-4-2`` of "KV 4.2", ``amendment-3`` of "third amendment"."""
    for found in _WORD_AND_DIGITS.finditer(text):
        parts = [part for part in _PARTS.findall(found[0]) if part.casefold() not in ("no", "nr", "number")]
        if not parts[0].isdigit():
            yield "-".join(parts)
    for found in _WORD_AND_WORD.finditer(text):
        yield "-".join(_key([found[1], found[2]]).split())
    for found in _ORDINAL_AND_WORD.finditer(text):
        yield f"{found[2].lower()}-{_ordinal(found[1])}"
    for found in _LONG_NUMBER.finditer(text):
        yield found[0]


def names_in(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of `text`, and its numbers as parts of identifiers have them: "the 3rd", "third", "three" and "iii" are ``3``."""
    words = frozenset(word.casefold() for word in re.findall(r"[^\W\d_]+", text))
    numbers = {_part(number) for number in re.findall("[0-9]+", text)}
    for word in words:
        for series, first in ((_SMALL, 1), (_ORDINALS, 1), (_ROMAN, 2)):
            numbers |= {str(series.index(word) + first)} if word in series else set()
    return words, frozenset(numbers)


def others_allowed(identifier: str) -> int:
    """How many others of its form a message may name beside an identifier: the fewer there can be, the less it takes to name all."""
    digits = sum(character.isdigit() for character in identifier)
    return _OTHERS_BY_DIGITS.get(digits, MAX_OTHERS)


def same_form(identifier: str, message: Reading) -> Iterator[Mention]:
    """Yield every identifier of the same form as `identifier` (same words, as many digits) that `message` names, itself or another."""
    parts = tuple(_PARTS.findall(read(identifier).text))
    for found in _form(parts).finditer(message.text):
        yield Mention(_key(found.groups()), found.start(), found.end())
    if _small_number(parts):
        for found in re.finditer(rf"(?<![^\W_])({_ORDINAL}) {re.escape(parts[0])}(?![^\W_])", message.text, re.IGNORECASE):
            yield Mention(f"{_part(parts[0])} {_ordinal(found[1])}", found.start(), found.end())
    if len(parts) > 1 and parts[-1].isdigit():
        yield from _series(parts, message.text)


def documents(name: str, message: Reading) -> Iterator[tuple[int, int]]:
    """Yield the places where `message` names a file: the words of its name in order, folder and suffix aside."""
    words = re.findall(r"[^\W_]+", PurePosixPath(read(name).text).stem)
    pattern = r"[\W_]{0,3}".join(map(re.escape, words))
    for found in re.finditer(rf"(?<![^\W_]){pattern}(?![^\W_])", message.text, re.IGNORECASE):
        yield found.span()


@lru_cache(maxsize=512)
def _form(parts: tuple[str, ...]) -> re.Pattern[str]:
    pattern = ""
    for before, part in zip(("", *parts), parts, strict=False):
        if before:
            pattern += _SEPARATOR + (_NUMBER_WORD + r"\s?" if part.isdigit() and not before.isdigit() else "")
        if not part.isdigit():
            pattern += f"({re.escape(part)})"
        elif len(part) > 2:
            pattern += f"([0-9]{{{len(part)}}})"
        else:
            words = f"|(?<![^\\W_])(?:{'|'.join((*_SMALL, *_ROMAN))})" if _small_number(parts) else ""
            pattern += f"([0-9]{{1,2}}{words})"
    return re.compile(rf"(?<![^\W_])(?<![0-9][.,]){pattern}(?![^\W_])(?!\.[0-9])", re.IGNORECASE)


def _small_number(parts: tuple[str, ...]) -> bool:
    """Whether it is a word and a small number (Amendment 3), which people also write as "amendment three" or "the third amendment"."""
    return len(parts) == 2 and len(parts[0]) >= 4 and parts[1].isdigit() and len(parts[1]) <= 2 and not parts[1].startswith("0")


def _key(parts: Sequence[str]) -> str:
    keyed = [_part(part) for part in parts]
    if len(keyed) == 2 and len(keyed[0]) >= 4 and keyed[1] in _ROMAN:
        keyed[1] = str(_ROMAN.index(keyed[1]) + 2)
    return " ".join(keyed)


def _part(part: str) -> str:
    lower = part.lower()
    if lower in _SMALL:
        return str(_SMALL.index(lower) + 1)
    return str(int(lower)) if lower.isdecimal() and len(lower) <= 2 else lower


def _ordinal(word: str) -> str:
    lower = word.lower()
    return str(_ORDINALS.index(lower) + 1) if lower in _ORDINALS else str(int(lower[:-2]))


def _series(parts: tuple[str, ...], text: str) -> Iterator[Mention]:
    prefix = [_part(part) for part in parts[:-1]]
    for series in _SERIES.finditer(text):
        said = [_part(part) for part in _PARTS.findall(series[1])]
        if said not in (prefix, [*prefix[:-1], prefix[-1] + "s"]) or len(series[2]) != len(parts[-1]):
            continue
        for item in re.finditer(r"[0-9]+", series[2] + series[3]):
            if len(item[0]) == len(parts[-1]):
                at = series.start(2) + item.start()
                yield Mention(" ".join((*prefix, _part(item[0]))), at, at + len(item[0]))

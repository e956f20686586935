"""Which numbers a message states: digits in the ways people write them, spelled-out numbers, and what only looks like a number.

A written number may be read in more than one way (``1,145`` is 1145, or 1.145 where a comma is the decimal sign); all readings count.
Dates, times, versions and identifiers are no numbers. The text is expected normalised (see ``reading``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_fdegym.people.number_words import spelled_out

_SCALES = {
    "hundred": 1e2,
    "thousand": 1e3,
    "k": 1e3,
    "million": 1e6,
    "mn": 1e6,
    "mio": 1e6,
    "m": 1e6,
    "billion": 1e9,
    "bn": 1e9,
    "dozen": 12.0,
}
_MONTHS = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_MONTH_AFTER = re.compile(rf"(?:\.? (?:of )?)(?:(?i:{_MONTHS})|May)\b")
_MONTH_BEFORE = re.compile(rf"\b(?:(?i:{_MONTHS})|May)\.? $")
_LABEL = re.compile(
    r"(?:\b(?:versions?|ver|releases?|build|revision|rev|pages?|pp?|sections?|sect?|articles?|art|clauses?|chapters?|annex|appendix|amendment|"
    r"amdt|order|ticket|invoice|step|room|table|id|case|nr)\.? (?:no\.? |nr\.? |number )?|\bno\. ?|[#§] ?)#?$",
    re.IGNORECASE,
)
_PERCENT = re.compile(r" ?(?:%|percent(?:age points?)?\b|per ?cent\b|pct\b|pp\b)", re.IGNORECASE)
_SCALE_AFTER = re.compile(r" (hundred|thousand|million|mn|mio|billion|bn|dozen|k|m)\b", re.IGNORECASE)
_MINUS = re.compile(r"(?:(?:^|[\s(\[=:~])-[$€£¥]?|\b(?:minus|negative) )$", re.IGNORECASE)
_TOKEN = re.compile(r"[0-9A-Za-z_]+(?:[.,:/'\-]+[0-9A-Za-z_]+)*")
_SPACED = re.compile(r"(?<![0-9A-Za-z_.,:/'\-])[0-9]{1,3}(?: [0-9]{3})+(?:[.,][0-9]{1,2})?(?![0-9A-Za-z_])")
_SCIENTIFIC = re.compile(r"[0-9]+(?:[.,][0-9]+)?e-?[0-9]{1,2}", re.IGNORECASE)
_CURRENCY = re.compile(r"(?:usd|eur|gbp|hkd|sgd|cny|rmb|jpy|chf|aud|cad|inr|rs)(?=[0-9])", re.IGNORECASE)
_WITH_UNIT = re.compile(r"([0-9][0-9.,']*)([A-Za-z]{0,12})")
_NO_UNITS = {"st", "nd", "rd", "th", "am", "pm"}
_LONGEST = 15


@dataclass(frozen=True)
class Number:
    """A stated number: its readings and where it stands. `label` is the word that makes it a reference (``clause `` of clause 7)."""

    start: int
    end: int
    values: frozenset[float]
    label: str = ""


def numbers_in(text: str) -> Iterator[Number]:
    """Yield the numbers that `text` states, in no particular order; a percentage is read as 4 and as 0.04."""
    found = [place for token in _TOKEN.finditer(text) if any(c.isdigit() for c in token[0]) for place in _in_token(text, token)]
    for spaced in _SPACED.finditer(text):
        values = _plain_readings(spaced[0].replace(" ", ""))
        found.append((spaced.start(), spaced.end(), {max(values)} if values else set()))
    for start, end, values in found:
        if not values or _MONTH_AFTER.match(text, end) or _MONTH_BEFORE.search(text[max(0, start - 12) : start]):
            continue
        label = _LABEL.search(text[max(0, start - 24) : start])
        yield Number(start, end, _in_context(text, start, end, values), label[0] if label else "")
    for start, end, value in spelled_out(text):
        yield Number(start, end, _in_context(text, start, end, {value}))


def _in_context(text: str, start: int, end: int, values: set[float]) -> frozenset[float]:
    if scale := _SCALE_AFTER.match(text, end):
        factor = _SCALES[scale[1].lower()]
        values = {value * factor for value in values} | (values if scale[1].lower() == "m" else set())
        end = scale.end()
    if _PERCENT.match(text, end):
        values = values | {value / 100 for value in values}
    if _MINUS.search(text[max(0, start - 10) : start]):
        # A hyphen before a number is a sign or a stroke of the pen ("lines: -37"): both readings stand.
        values = values | {-value for value in values}
    return frozenset(values)


def _in_token(text: str, token: re.Match[str]) -> Iterator[tuple[int, int, set[float]]]:
    """Numbers of one unbroken token (``10-hour``, ``37/212``, ``IB-104``, ``2025-03-04``)."""
    word, start = token[0], token.start()
    if "_" in word or word == "24/7":
        return
    if currency := _CURRENCY.match(word):
        word, start = word[currency.end() :], start + currency.end()
    if word.isdigit() and start > 0 and text[start - 1] == "." and (start == 1 or text[start - 2] in " \n(-$€£¥~="):
        yield start, token.end(), {float("0." + word[:_LONGEST])}
        return
    if _SCIENTIFIC.fullmatch(word):
        yield start, token.end(), {float(word.replace(",", "."))}
        return
    # A colon, comma or full stop between a letter and anything is punctuation of a hurried writer ("lines:37,rigs:4").
    for piece in re.finditer(r"(?:[^:.,]|(?<=[0-9])[:.,]+(?=[0-9]))+", word):
        yield from _in_piece(piece[0], start + piece.start())


def _in_piece(piece: str, start: int) -> Iterator[tuple[int, int, set[float]]]:
    if ":" in piece or re.search(r"(?:--|//|-/|/-|'')", piece):
        return
    parts = [(part[0], start + part.start()) for part in re.finditer(r"[^/\-]+", piece)]
    numeric = [part for part, _ in parts if part.replace(".", "").replace(",", "").isdigit()]
    if not piece[0].isdigit() or len(numeric) > 2 or (len(numeric) == 2 and _is_month(parts, piece)):
        return
    if any(re.search(r"[A-Za-z]", part) and re.search(r"[0-9]", part) for part, _ in parts[1:]):
        return
    if any(len(part) > 1 and part[0] == "0" and part[1] not in ".," for part in numeric):
        return
    for part, at in parts:
        if unit := _WITH_UNIT.fullmatch(part):
            yield from _with_unit(unit, at)


def _is_month(parts: list[tuple[str, int]], piece: str) -> bool:
    first, second = parts[0][0], parts[1][0]
    return bool("-" in piece or "/" in piece) and bool(
        (re.fullmatch(r"(?:19|20)[0-9]{2}", first) and re.fullmatch(r"0?[1-9]|1[0-2]|[0-9]{4}|[0-9]{2}", second))
        or (re.fullmatch(r"0?[1-9]|1[0-2]", first) and re.fullmatch(r"(?:19|20)[0-9]{2}", second))
    )


def _with_unit(part: re.Match[str], at: int) -> Iterator[tuple[int, int, set[float]]]:
    digits, unit = part[1].rstrip(".,'"), part[2].lower()
    if unit in _NO_UNITS:
        return
    end = at + len(digits)
    if re.fullmatch(r"[0-9]{1,2}(?:,[0-9]{1,2}){2,}", digits):  # a list without spaces: 10,12,14
        for item in re.finditer(r"[0-9]+", digits):
            yield at + item.start(), at + item.end(), {float(item[0])}
        return
    values = _plain_readings(digits)
    if unit in _SCALES:
        values = {value * _SCALES[unit] for value in values} | (values if unit == "m" else set())
    yield at, end, values


def _plain_readings(digits: str) -> set[float]:
    """The readings of digits with separators; none for what is no number (versions, dates, identifiers)."""
    if len(digits) > _LONGEST + 5:
        return set()
    if digits.isdigit():
        return set() if (digits[0] == "0" and len(digits) > 1) or len(digits) > _LONGEST else {float(digits)}
    if re.fullmatch(r"[1-9][0-9]{0,2}([.,'])[0-9]{3}(?:\1[0-9]{3})*", digits):
        readings = {float(re.sub(r"[.,']", "", digits))}
        if digits.count(",") + digits.count(".") == 1:
            readings.add(float(digits.replace(",", ".")))
        return readings
    if re.fullmatch(r"[1-9][0-9]{0,2}(?:([.,'])[0-9]{3})(?:\1[0-9]{3})*(?!\1)[.,][0-9]+", digits):
        whole, part = re.split(r"[.,](?=[0-9]+$)", digits)
        return {float(re.sub(r"[.,']", "", whole) + "." + part)}
    if re.fullmatch(r"(?:0|[1-9][0-9]*)[.,][0-9]+", digits):
        return {float(digits.replace(",", "."))}
    return set()

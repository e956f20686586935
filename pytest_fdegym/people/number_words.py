"""Numbers written in English words: "two hundred and twelve", "thirty-seven", "eleven hundred", "two point five", "a dozen"."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
UNITS = {word: value for value, word in enumerate(_SMALL[:10])}
_TEENS = {word: value for value, word in enumerate(_SMALL) if value >= 10}
_TENS = {word: 10 * value for value, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_ARTICLES = {"a", "an"}
_WORD = re.compile(r"[A-Za-z]+")
_STARTS = UNITS.keys() | _TEENS.keys() | _TENS.keys() | _ARTICLES


def spelled_out(text: str) -> Iterator[tuple[int, int, float]]:
    """Yield start, end and value of every number in words. Words of one number are joined by a space, a line break or a hyphen."""
    words = [(word[0].lower(), word.start(), word.end()) for word in _WORD.finditer(text)]
    i = 0
    while i < len(words):
        if words[i][0] not in _STARTS or _glued(text, words[i][1], words[i][2]):
            i += 1
            continue
        # The words of one number are few: a bound keeps a message of nothing but numerals cheap.
        run = [words[i][0]]
        for (_, _, before), (word, start, end) in zip(words[i : i + 20], words[i + 1 : i + 21], strict=False):
            if text[before:start] not in (" ", "-", "\n") or _glued(text, start, end):
                break
            run.append(word)
        value, used = _compose(run)
        if used:
            yield words[i][1], words[i + used - 1][2], value
        i += max(used, 1)


def _glued(text: str, start: int, end: int) -> bool:
    return (start > 0 and (text[start - 1].isdigit() or text[start - 1] == "_")) or (
        end < len(text) and (text[end].isdigit() or text[end] == "_")
    )


def _compose(words: list[str]) -> tuple[float, int]:
    """The value of the longest number that `words` begin with, and how many of them it takes (0: none)."""
    total, current, last = 0, 0, ""
    smallest_scale = 10**12
    used = 0
    i = 0
    while i < len(words):
        word = words[i]
        following = words[i + 1] if i + 1 < len(words) else ""
        if word in _ARTICLES and last == "":
            if following not in _SCALES and following not in ("hundred", "dozen"):
                return 0, 0
            current, last = 1, "article"
            i += 1
            continue
        if word == "and" and last in ("hundred", "scale") and (following in UNITS or following in _TEENS or following in _TENS):
            i += 1
            continue
        if word in UNITS and last in ("", "tens", "hundred", "scale") and not (last == "tens" and word == "zero"):
            current, last = current + UNITS[word], "unit"
        elif word in _TEENS and last in ("", "hundred", "scale"):
            current, last = current + _TEENS[word], "teen"
        elif word in _TENS and last in ("", "hundred", "scale"):
            current, last = current + _TENS[word], "tens"
        elif word == "hundred" and last in ("unit", "teen", "tens", "article") and 0 < current < 100:
            current, last = current * 100, "hundred"
        elif word in _SCALES and last not in ("", "scale") and current and _SCALES[word] < smallest_scale:
            total, current, last, smallest_scale = total + current * _SCALES[word], 0, "scale", _SCALES[word]
        elif word == "dozen" and last in ("unit", "teen", "tens", "article"):
            return float(current * 12), i + 1
        elif word == "point" and used and following in UNITS:
            digits = ""
            for digit in words[i + 1 :]:
                if digit not in UNITS:
                    break
                digits += str(UNITS[digit])
            return float(f"{total + current}.{digits}"), i + 1 + len(digits)
        else:
            break
        i += 1
        used = i
    return float(total + current), used

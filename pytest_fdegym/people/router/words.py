"""Words of a sentence, reduced to stems and to the ideas that business English has many words for."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pytest_fdegym.people.router.thesaurus import IDEAS

_STOP_WORDS: Final = (
    "a about above after again all also am an and any anyone anything are aren't as at be because been before being below between "
    "both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each either else even ever "
    "every few for from further get gets getting give given go goes going got had has hasn't have haven't having he he's hello her "
    "here hers hey hi him his how however i i'd i'll i'm i've if in into is isn't it it's its itself just know like let let's look "
    "make many may maybe me might more most much must my myself need no nor not now of off on once one only or other our ours out "
    "over own please pls quite rather really said same say see shall she should shouldn't since so some something somebody someone "
    "still such take tell than thank thanks that that's the their theirs them then there there's these they they're thing things "
    "this those though through to too two under until up upon us very want was wasn't we we'd we're we've well were what what's "
    "when where which while who who's whom whose why will with within without won't would wouldn't yes yet you you'd you're you've "
    "your yours "
)
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())
"""Words that say nothing of a subject."""
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+(?:[.,]\d+)*|[a-z]+_[a-z_]+", re.I)
_SUFFIXES: Final = (
    ("ational", "ate"), ("isations", "ize"), ("izations", "ize"), ("isation", "ize"), ("ization", "ize"), ("ations", "ate"),
    ("ation", "ate"), ("fulness", "ful"), ("iveness", "ive"), ("ments", ""), ("ment", ""), ("ising", "ize"), ("izing", "ize"),
    ("ised", "ize"), ("ized", "ize"), ("ises", "ize"), ("ise", "ize"), ("ities", "ity"), ("ies", "y"), ("ingly", ""), ("edly", ""),
    ("ing", ""), ("ied", "y"), ("ed", ""), ("ly", ""), ("ers", ""), ("er", ""), ("ors", "or"), ("sses", "ss"), ("ness", ""),
    ("ances", ""), ("ance", ""), ("ences", ""), ("ence", ""), ("ions", ""), ("ion", ""), ("als", ""), ("al", ""), ("es", ""),
    ("s", ""),
)  # fmt: skip


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return a light stem of the lower-case `word`.

    One suffix is taken off where at least three letters stay; then a final e and a doubled consonant go.
    """
    if not word.isalpha() or len(word) <= 3:
        return word
    for suffix, replacement in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not (suffix == "s" and word.endswith(("ss", "us", "is"))):
            word = word[: len(word) - len(suffix)] + replacement
            break
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiousl":
        word = word[:-1]
    return word


def raw_words(text: str) -> list[str]:
    """Return the lower-case words and numbers of `text` in order, with ``snake_case`` names taken apart."""
    return [word.lower() for word in _WORD.findall(text.replace("_", " ").replace("-", " "))]


def _idea_table() -> dict[str, tuple[str, ...]]:
    table: dict[str, list[str]] = {}
    for idea, words in IDEAS.items():
        for word in words.split():
            ideas = table.setdefault(stem(word), [])
            if idea not in ideas:
                ideas.append(idea)
    return {word: tuple(ideas) for word, ideas in table.items()}


_IDEAS_OF: Final = _idea_table()


def ideas(stems: list[str]) -> list[str]:
    """Return the ideas that `stems` express, marked with ``=``."""
    return [f"={idea}" for word in stems for idea in _IDEAS_OF.get(word, ())]


def content_stems(text: str) -> list[str]:
    """Return the stems of the words of `text` that carry meaning."""
    return [stem(word.split("'")[0]) for word in raw_words(text) if word not in STOP_WORDS and (len(word) > 1 or word.isdigit())]


def is_known_idea(word_stem: str) -> bool:
    """Whether the thesaurus has this stem."""
    return word_stem in _IDEAS_OF

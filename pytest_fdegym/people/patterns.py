"""What a phrase (a regular expression of the author's) says: texts that it finds, the identifiers in them, and its words."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from re import _constants as codes  # type: ignore[attr-defined]  # the standard library's own parser has no public name
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from pytest_fdegym.people.mentions import identifiers_in, key_of

_MOST = 200
"""Texts of one pattern that are looked at; alternatives of alternatives multiply."""
_WORD = re.compile(r"[^\W\d_]{4,}")
_COMMON_WORDS = """
able also been both down each from have into just like more most much need only other over same some such
than that their them then there these they this those upon very were what when where which while will with would your
"""
_COMMON = frozenset(_COMMON_WORDS.split())


@lru_cache(maxsize=512)
def texts_of(pattern: str) -> tuple[str, ...]:
    """Some of the texts that `pattern` finds, one for each of its alternatives as far as they are not too many."""
    return tuple(dict.fromkeys(_texts(parser.parse(pattern, re.IGNORECASE))))


@lru_cache(maxsize=512)
def identifiers_of(pattern: str) -> tuple[str, ...]:
    """The identifiers that `pattern` stands for (``amendment-3``), each once; none where it finds anything else as well."""
    named = [tuple(identifiers_in(text)) for text in texts_of(pattern)]
    if not all(named):
        return ()
    return tuple({key_of(identifier): identifier for identifiers in named for identifier in identifiers}.values())


@lru_cache(maxsize=512)
def words_of(pattern: str) -> frozenset[str]:
    """The words, or beginnings of words, that `pattern` looks for; without short and common ones."""
    return frozenset(word.casefold() for text in texts_of(pattern) for word in _WORD.findall(text)) - _COMMON


def content_words(text: str) -> frozenset[str]:
    """The words of `text` that say something."""
    return frozenset(word.casefold() for word in _WORD.findall(text)) - _COMMON


def _texts(nodes: Any) -> list[str]:
    texts = [""]
    for operation, argument in nodes:
        pieces = _pieces(operation, argument)
        texts = list(islice((text + piece for text in texts for piece in pieces), _MOST))
    return texts


def _pieces(operation: Any, argument: Any) -> list[str]:
    """What one element of a pattern may find."""
    if operation is codes.LITERAL:
        return [chr(argument)]
    if operation in (codes.ANY, codes.NOT_LITERAL):
        return [" "]
    if operation is codes.IN:
        return [_of_class(argument)]
    if operation is codes.BRANCH:
        return list(islice((text for branch in argument[1] for text in _texts(branch)), _MOST))
    if operation is codes.SUBPATTERN:
        return _texts(argument[3])
    if operation is codes.ATOMIC_GROUP:
        return _texts(argument)
    if operation in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        least, _, inner = argument
        once = _texts(inner)
        # What may be left out is looked at both ways: "amendment (no\s*)?3". Nobody leaves out a space between words.
        return [text * least for text in once] if least else once if once == [" "] else ["", *once]
    return [""]  # anchors, looking ahead or behind, references to groups


def _of_class(members: Any) -> str:
    """One character of a class; a space where none says more."""
    if members[0][0] is codes.NEGATE:
        return " "
    for operation, argument in members:
        if operation is codes.LITERAL:
            return chr(argument)
        if operation is codes.RANGE or (operation is codes.CATEGORY and argument in (codes.CATEGORY_DIGIT, codes.CATEGORY_WORD)):
            return ""  # any of them: "resol\w+" is looked for by its beginning, "INV-\d+" by no number
    return " "

"""Short replies that mean something only in the light of what was said before: "yes", "the first one", "and what about the others?"."""

from __future__ import annotations

import re
from typing import Final

from pytest_fdegym.people.router.base import RouterContext
from pytest_fdegym.people.router.sentences import normalise
from pytest_fdegym.people.router.words import content_stems, stem

_POLITE: Final = (
    r"(?:[\s,.!;:-]|\b(?:please|pls|thanks|thank you|thx|sorry|oh|ok|okay|well|i mean|i meant|i'd like|i would like|i want|"
    r"that would be|it's|it is|for|about|just|only|and|then)\b)*"
)
_YES = re.compile(
    rf"^{_POLITE}(?:yes|yep|yeah|yup|correct|right|exactly|indeed|precisely|that's (?:it|right|the one)|that one|that is it|sure|aye|"
    rf"affirmative|i do|please do)\b",
    re.I,
)
_NO = re.compile(rf"^{_POLITE}(?:no|nope|neither|none|nothing|not (?:that|those|really|any)|never ?mind|forget it)\b", re.I)
_ALL = re.compile(rf"^{_POLITE}(?:yes\b{_POLITE})?(?:both|all(?: of (?:them|those|these))?|all (?:two|three)|each|the two|either)\b", re.I)
_ORDINALS: Final = (
    re.compile(r"\b(?:first|1st|former|number one|no\.? ?1|option (?:1|one)|1)\b|^\W*one\W*$", re.I),
    re.compile(r"\b(?:second|2nd|number two|no\.? ?2|option 2|2)\b", re.I),
    re.compile(r"\b(?:third|3rd|number three|no\.? ?3|option 3|3)\b", re.I),
)
_LAST = re.compile(r"\b(?:last|latter)\b", re.I)
_CHOOSING: Final = (
    "first second third former latter last number option 1st 2nd 3rd 1 2 3 choice question point item topic part yes mean meant no "
    "neither none nothing nope never mind forget st nd rd exactly correct right indeed precisely sure "
    "affirmative yep yeah yup aye sorry okay"
)
_CHOOSING_WORDS = frozenset(stem(word) for word in _CHOOSING.split())
_MORE = re.compile(
    r"\b(?:(?:what|how) about|and (?:the|for|what|if|in|then)\b|the (?:others?|rest|remaining|same|latter|former|second|third|next|first|"
    r"last)\b|"
    r"(?:more|elaborate|expand|again|further) (?:on|about)? ?(?:that|this|it|those)|what do you mean|why is that|why's that|how so|how "
    r"come|are you sure|is that (?:right|all|so|still)|"
    r"say that again|come again|can you repeat|which ones?|since when|until when|from when|and why|and how)\b",
    re.I,
)
_POINTS_BACK = re.compile(
    r"\b(?:that|this|it|those|these|them|others?|rest|same|one|ones|second|third|next|latter|former|so|why|how|when|which|sure|repeat|"
    r"again)\b",
    re.I,
)


def chosen_of(candidates: tuple[str, ...], message: str) -> tuple[str, ...] | None:
    """Return which of `candidates` the reply `message` picks.

    An empty tuple means that it declines them all; None that it is no reply of this kind and is to be read as any message.
    """
    text = normalise(message).strip()
    stems = content_stems(text)
    ordinary = [word for word in stems if word not in _CHOOSING_WORDS]
    if not candidates or len(text.split()) > 12 or len(ordinary) > 1:
        return None
    if _NO.search(text) and not ordinary:
        return ()
    if _ALL.search(text):
        return candidates
    if not ordinary:
        if _LAST.search(text):
            return (candidates[-1],)
        picked = tuple(topic for topic, pattern in zip(candidates, _ORDINALS, strict=False) if pattern.search(text))
        if picked:
            return picked
    if _YES.search(text) and len(candidates) == 1 and not ordinary:
        return candidates
    return None


def continues(message: str, context: RouterContext) -> str | None:
    """Return the topic that a message without a subject of its own goes on about: the last one, else the one still refused."""
    text = normalise(message).strip()
    if len(text.split()) > 12 or len(content_stems(text)) > 2 or not (_MORE.search(text) and _POINTS_BACK.search(text)):
        return None
    return context.recent[0] if context.recent else context.pending

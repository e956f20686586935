"""The model behind the gateway: reads a driver's message, says what it is about, and errs as often as the real one does.

It goes by the sentences of wording.py, so the same message gets the same label whatever the prompt around it says and however often it
is asked; an engineer's own words are read by a few keywords.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from pytest_fdegym.kit import share_of

from .wording import SENTENCES

ERRORS: Mapping[str, tuple[float, str]] = {
    "idle": (0.07, "general"),
    "broken": (0.14, "general"),
    "general": (0.05, "idle"),
    "safety": (0.15, "broken"),
}
"""By what a message is about: how often the model errs, and what it says then."""

_KEYWORDS = (
    ("safety", re.compile(r"\b(smoke|shock|burn\w*|spark\w*|melt\w*|fire|wires?)\b")),
    ("idle", re.compile(r"\b(idle|idling|fees?|grace|parked|overstay)\b")),
    ("broken", re.compile(r"\b(broke\w*|fault\w*|error|stopped|died|dead|stuck|quit|failed|not work\w*)\b")),
)


@dataclass(frozen=True)
class _Known:
    matter: str
    fixed: str
    """The longest part without a blank to fill in; quick to look for."""
    pattern: re.Pattern[str]


def classify(messages: Sequence[Mapping[str, str]], salt: str) -> str:
    """The model's answer: one JSON object with `label` and `confidence`. `salt` makes one world's errors differ from another's."""
    text = _plain("\n".join(message["content"] for message in messages if message["role"] == "user"))
    matter, said = _last_known(text) or _by_keyword(text)
    rate, instead = ERRORS[matter]
    label = instead if share_of(salt, "label", said) < rate else matter
    return json.dumps({"label": label, "confidence": round(0.78 + 0.21 * share_of(salt, "confidence", said), 2)})


def _last_known(text: str) -> tuple[str, str] | None:
    """What the last message in `text` is about and says: a prompt may give examples first."""
    found: tuple[int, str, str] | None = None
    for known in _known():
        if known.fixed in text:
            for match in known.pattern.finditer(text):
                if found is None or match.start() > found[0]:
                    found = match.start(), known.matter, match.group()
    return found and found[1:]


def _by_keyword(text: str) -> tuple[str, str]:
    return next((matter for matter, pattern in _KEYWORDS if pattern.search(text)), "general"), text[-400:]


@cache
def _known() -> tuple[_Known, ...]:
    known = []
    for matter, sentences in SENTENCES.items():
        for sentence in sentences:
            parts = [_plain(part) for part in re.split(r"\{\w+\}", sentence)]
            pattern = re.compile(r" ?[a-z0-9 ]{1,40}? ?".join(map(re.escape, parts)) + (r"[a-z0-9 ]{1,12}" if not parts[-1] else ""))
            known.append(_Known(matter, max(parts, key=len), pattern))
    return tuple(known)


def _plain(text: str) -> str:
    """Small letters and digits, everything else a blank: case, punctuation and line breaks do not matter."""
    return re.sub(r"[^a-z0-9]+", " ", text.lower()).strip()

"""The author's patterns for a topic: triggers, which speak for it, and never, which speak against it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.scenario.model import Topic

_LITERAL = re.compile(r"\\[a-zA-Z]|[A-Za-z]{5,}")


@dataclass(frozen=True)
class Triggers:
    """Compiled patterns of one topic."""

    speak_for: tuple[re.Pattern[str], ...]
    speak_against: tuple[re.Pattern[str], ...]

    def matches(self, *spellings: str) -> list[int]:
        """Return the positions of the triggers that match a sentence in any of its `spellings`."""
        return [i for i, pattern in enumerate(self.speak_for) if any(pattern.search(text) for text in spellings)]

    def refused(self, *spellings: str) -> bool:
        """Whether a `never` pattern matches."""
        return any(pattern.search(text) for pattern in self.speak_against for text in spellings)


def _compiled(patterns: tuple[str, ...], key: str) -> tuple[re.Pattern[str], ...]:
    compiled = []
    for number, pattern in enumerate(patterns):
        try:
            compiled.append(re.compile(pattern, re.IGNORECASE))
        except re.error as error:
            raise ScenarioError(f"{key}[{number}]: {pattern!r} is not a regular expression: {error}") from None
    return tuple(compiled)


def compile_triggers(topic: Topic, key: str) -> Triggers:
    """Compile the patterns of `topic`, which errors call `key`.

    Raises ScenarioError for a pattern that is not a regular expression.
    """
    return Triggers(_compiled(topic.triggers, f"{key}.triggers"), _compiled(topic.never, f"{key}.never"))


def literal_words(topic: Topic) -> set[str]:
    """Return the words that stand in the triggers of `topic`, for the spelling."""
    return {
        word.lower()
        for pattern in topic.triggers
        for word in _LITERAL.findall(pattern.replace("\\b", " ").replace("\\w", " "))
        if word.isalpha()
    }

"""Counts what failed in a replay, and says on the score card what that meant for the customer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pytest_fdegym.kit.values import plain_text
from pytest_fdegym.scenario.world import Died, Json, Outcome, Raised, Returned, TimedOut

LONGEST_FAILURE = 200
"""Characters of a failure that a note quotes; it is the delivery's own text."""


class CallLog:
    """The calls of one replay: `value` opens an outcome, `odd` notes an answer that could not be used, `notes` tells of both.

    `meaning` says for each entry point what a failed call means for the customer ("those events stayed uncoded").
    """

    def __init__(self, meaning: Mapping[str, str]) -> None:
        self._meaning = meaning
        self._calls: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._first: dict[str, str] = {}
        self._odd: Counter[str] = Counter()

    def value(self, entry_point: str, outcome: Outcome, failed: Json = None) -> Json:
        """What the call gave back (any JSON, None included), or `failed` where it gave nothing back. KeyError for an unknown name."""
        self._meaning[entry_point]
        self._calls[entry_point] += 1
        if isinstance(outcome, Returned):
            return outcome.value
        self._failed[entry_point] += 1
        self._first.setdefault(entry_point, plain_text(_said(outcome), LONGEST_FAILURE))
        return failed

    def odd(self, text: str) -> None:
        """Note an answer that could not be used; `text` says what was odd about it and what happened instead."""
        self._odd[text] += 1

    def notes(self) -> list[str]:
        """Sentences for ``Operations.notes``: failed calls first, then what was odd, each with its count."""
        failures = [
            f"{name} failed on {failed:,} of {self._calls[name]:,} calls, {self._meaning[name]} (first: {self._first[name]})"
            for name, failed in self._failed.items()
        ]
        return failures + [f"{text}: {'once' if count == 1 else f'{count:,} times'}" for text, count in self._odd.items()]


def _said(outcome: Raised | TimedOut | Died) -> str:
    match outcome:
        case Raised():
            return f"{outcome.error}: {outcome.message}"
        case TimedOut():
            return f"no answer within {outcome.seconds:g} s"
        case Died():
            return outcome.reason

"""Counts what failed during a replay and says it in short sentences for the score card."""

from __future__ import annotations

from collections import Counter

from pytest_fdegym.deployment.replies import one_line
from pytest_fdegym.scenario.world import Died, Outcome, Raised, Returned, TimedOut

MOST_KINDS = 8
"""Kinds of failure told apart per entry point; a delivery can invent as many as it likes."""


class Failures:
    """Failed calls by kind (an exception's kind is its type and where it was raised), and production's inserts that failed."""

    def __init__(self) -> None:
        self._calls: Counter[str] = Counter()
        self._kinds: dict[str, dict[tuple[str, ...], tuple[str, int]]] = {}
        self._inserts: dict[tuple[str, str, str], int] = {}

    def count(self, entry_point: str, outcome: Outcome, where: str = "") -> None:
        """Take note of a call's outcome; `where` is the place in the delivery, if known."""
        self._calls[entry_point] += 1
        if isinstance(outcome, Returned):
            return
        key, sentence = _described(outcome, where)
        kinds = self._kinds.setdefault(entry_point, {})
        if key not in kinds and len(kinds) >= MOST_KINDS:
            key, sentence = ("others",), "failed in further ways"
        first, count = kinds.get(key, (sentence, 0))
        kinds[key] = (first, count + 1)

    def count_insert(self, database: str, table: str, rows: int, reason: str) -> None:
        """Take note of `rows` that production could not insert."""
        key = (database, table, one_line(reason, 200))
        if key in self._inserts or len(self._inserts) < MOST_KINDS:
            self._inserts[key] = self._inserts.get(key, 0) + rows

    def sentences(self) -> list[str]:
        """One sentence for each kind of failure, in the order in which they first occurred."""
        found: list[str] = []
        for entry_point, kinds in self._kinds.items():
            calls = self._calls[entry_point]
            found.extend(
                f"{entry_point} {sentence} on {count:,} of {calls:,} call{'s' * (calls != 1)}" for sentence, count in kinds.values()
            )
        for (database, table, reason), rows in self._inserts.items():
            found.append(f"production could not insert {rows:,} row{'s' * (rows != 1)} into {table} of {database}: {reason}")
        return found


def _described(outcome: Raised | TimedOut | Died, where: str) -> tuple[tuple[str, ...], str]:
    match outcome:
        case TimedOut(seconds):
            return ("late",), f"gave no answer within {seconds:g} s"
        case Died(reason):
            return ("died", reason), f"was not answered ({one_line(reason, 200)})"
        case Raised("NotJSON", message):
            return ("NotJSON", message), f"returned what JSON cannot carry ({one_line(message, 160)})"
        case Raised(error, message):
            said = f": {shown}" if (shown := one_line(message, 160)) else ""
            return (error, where), f"raised {error}{said}{f' in {where}' if where else ''}"

"""The gate: what a graded run must reach for its test to pass."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_fdegym.results.record import Scores
from pytest_fdegym.scoring.uplift import RESOLVED_AT, reaches


@dataclass(frozen=True)
class Gate:
    """`text` is the option's value, already parsed: ``resolved``, ``min-score:X``, ``baseline`` or ``none``.

    Under ``baseline`` every graded run passes: the verdict is on the session (`BaselineGate`).
    """

    text: str

    @property
    def threshold(self) -> float | None:
        """The score S that is asked for; None when any will do."""
        if self.text in ("none", "baseline"):
            return None
        return RESOLVED_AT if self.text == "resolved" else float(self.text.partition(":")[2])

    def passes(self, scores: Scores) -> bool:
        """Whether the run passes."""
        if self.text == "resolved":
            return scores.resolved
        return self.threshold is None or reaches(scores.score, self.threshold)

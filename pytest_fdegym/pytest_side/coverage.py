"""The coverage of a session, graded / planned, and what ``--fde-min-coverage`` demands of it."""

from __future__ import annotations

from dataclasses import dataclass

_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Coverage:
    """How many of the planned runs were graded."""

    graded: int
    planned: int

    @property
    def share(self) -> float:
        """From 0 to 1; nothing of nothing is all."""
        return self.graded / self.planned if self.planned else 1.0

    def short_of(self, least: float | None) -> str | None:
        """The line that says what is missing; None where enough was graded, or nothing is demanded."""
        if least is None or self.share >= least - _TOLERANCE:
            return None
        return (
            f"coverage {self.share:.3f} (graded {self.graded} of {self.planned} planned) is below --fde-min-coverage={least:g}. "
            "The session fails."
        )

"""Draws the moments of a replay at which the databases are compared while it goes on, so that a delivery cannot foresee them."""

from __future__ import annotations

import math
import random

_EARLY = 0.05
"""The first moment is drawn from this part of the replay."""
_LATE = (0.85, 0.97)
"""One more is drawn from this part."""
_MEAN, _MOST = 1 / 3, 0.4
"""Between two others lies an exponentially distributed part of the replay, cut off at the second number: about six moments in all."""
_BEFORE_INSERT = 0.5
"""Of so many moments, the one before production's next insert is taken instead: what it would write into is of interest."""


class Moments:
    """Says, step by step, whether the databases are to be compared now.

    A step is a call, or an insert of production's after the first call. A delivery may well notice a comparison afterwards. The gaps are
    therefore exponential: what has been says nothing about when the next one comes, up to the gap at which it is bound to come. They go by
    steps, not by the clock, so that the same delivery meets the same moments again.
    """

    def __init__(self, key: str, expected: int | None = None) -> None:
        """`key` is all that is drawn from, and nothing that a delivery can read or compute.

        `expected` is the number of steps that the system as found was given, if known; otherwise gaps grow with the steps so far.
        """
        self.steps = 0
        """It was asked about so far."""
        self._draw = random.Random(key)
        self._expected = expected or 0
        self._next = 1 + int(_EARLY * self._expected * self._draw.random())
        self._late = int(self._expected * self._draw.uniform(*_LATE))
        self._inserts = self._waits = False

    def after_call(self) -> bool:
        """To be asked after each call."""
        if not self._step():
            return False
        # Where production does not write, there is nothing to wait for.
        if self._inserts and not self._waits and self._draw.random() < _BEFORE_INSERT:
            self._waits = True
            return False
        return True

    def before_insert(self) -> bool:
        """To be asked before each insert that comes after the first call."""
        due = self._step() or self._waits
        self._inserts, self._waits = True, False
        return due

    def _step(self) -> bool:
        self.steps += 1
        due = self.steps == self._late
        if self.steps >= self._next:
            due = True
            # A replay may be longer than that of the system as found.
            scale = max(self._expected, self.steps) if self._expected else 3 * self.steps
            self._next = self.steps + math.ceil(scale * min(self._draw.expovariate(1 / _MEAN), _MOST))
        return due

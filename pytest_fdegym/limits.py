"""Limits of one engagement and what is used of them; unknown usage stays unknown."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from pytest_fdegym.errors import LimitReached
from pytest_fdegym.results.record import Usage


@dataclass(frozen=True)
class Limits:
    """The paper's limits. Wall-clock minutes of the engagement; None is no limit."""

    turns: int | None = 200
    minutes: float | None = 150.0
    usd: float | None = 8.0


class LimitTracker:
    """Counts usage against limits; safe to use from several threads.

    `clock` gives seconds and exists so that tests need not wait.
    """

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self.limits = limits
        self._clock = clock
        self._started = clock()
        self._lock = threading.Lock()
        self._turns = 0
        self._input = 0
        self._output = 0
        self._usd = Decimal(0)
        self._reported = False
        self._priced = False

    def record(self, *, turns: int = 0, input_tokens: int = 0, output_tokens: int = 0, usd: float | None = None) -> None:
        """Add usage. A report without a price leaves the cost unknown unless another one gave a price."""
        with self._lock:
            self._reported = True
            self._turns += turns
            self._input += input_tokens
            self._output += output_tokens
            if usd is not None:
                self._priced = True
                self._usd += Decimal(repr(usd))

    @property
    def usage(self) -> Usage:
        """What is known so far."""
        with self._lock:
            if not self._reported:
                return Usage()
            return Usage(
                turns=self._turns, input_tokens=self._input, output_tokens=self._output, usd=float(self._usd) if self._priced else None
            )

    @property
    def turns_left(self) -> int | None:
        """None when there is no such limit."""
        return None if self.limits.turns is None else max(self.limits.turns - self._turns, 0)

    @property
    def minutes_left(self) -> float | None:
        """Wall-clock minutes; None when there is no such limit."""
        if self.limits.minutes is None:
            return None
        return max(self.limits.minutes - (self._clock() - self._started) / 60, 0.0)

    @property
    def usd_left(self) -> float | None:
        """None when there is no such limit."""
        return None if self.limits.usd is None else max(self.limits.usd - float(self._usd), 0.0)

    def check(self) -> None:
        """Raise LimitReached (``turns``, ``minutes`` or ``usd``) when a limit is used up."""
        for reason, left in (("turns", self.turns_left), ("minutes", self.minutes_left), ("usd", self.usd_left)):
            if left is not None and left <= 0:
                raise LimitReached(reason)

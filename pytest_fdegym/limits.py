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


@dataclass
class _Counted:
    """What one source told: the agent itself, or the metering proxy. `..._known` is False where a part of the sum is unknown."""

    calls: int = 0
    turns: int = 0
    input: int = 0
    output: int = 0
    usd: Decimal = Decimal(0)
    input_known: bool = True
    output_known: bool = True
    usd_known: bool = True
    priced: bool = False
    """Whether any price was told; without one, nothing used is no cost of 0."""

    def add(self, turns: int, input_tokens: int | None, output_tokens: int | None, usd: float | None) -> None:
        used = bool(turns or input_tokens or output_tokens) or input_tokens is None or output_tokens is None
        self.calls += 1
        self.turns += turns
        self.input += input_tokens or 0
        self.output += output_tokens or 0
        self.input_known = self.input_known and input_tokens is not None
        self.output_known = self.output_known and output_tokens is not None
        self.usd += Decimal(0) if usd is None else Decimal(repr(float(usd)))
        self.priced = self.priced or usd is not None
        self.usd_known = self.usd_known and (usd is not None or not used)


class LimitTracker:
    """Counts usage against limits; safe to use from several threads. A context manager, which watches the minutes while it is open.

    What the agent reports and what the metering proxy sees may be the same calls, so of each figure the larger one counts, never the sum.
    `clock` gives seconds; `wait` waits for an event for at most so many seconds. Both exist so that tests need not wait.
    """

    def __init__(
        self,
        limits: Limits,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[threading.Event, float], bool] = threading.Event.wait,
    ) -> None:
        self.limits = limits
        self._clock, self._wait = clock, wait
        self._started = clock()
        self._lock = threading.Lock()
        self._reported, self._metered = _Counted(), _Counted()
        self._reached: str | None = None
        self._callbacks: list[Callable[[str], None]] = []
        self._stop = threading.Event()
        self._timer: threading.Thread | None = None

    # --- usage ---

    def record(self, *, turns: int = 0, input_tokens: int = 0, output_tokens: int = 0, usd: float | None = None) -> None:
        """Add what the agent reports about itself. Turns or tokens without a price leave the cost unknown, unless the proxy knows it."""
        with self._lock:
            self._reported.add(turns, input_tokens, output_tokens, usd)
        _ = self.reached

    def meter(self, *, turns: int = 0, input_tokens: int | None = 0, output_tokens: int | None = 0, usd: float | None) -> None:
        """Add what the metering proxy saw; None is unknown."""
        with self._lock:
            self._metered.add(turns, input_tokens, output_tokens, usd)
        _ = self.reached

    @property
    def usage(self) -> Usage:
        """What is known so far."""
        with self._lock:
            sources = [each for each in (self._reported, self._metered) if each.calls]
            if not sources:
                return Usage()
            # A source that has as many turns as the other one speaks for all of them.
            known = any(each.priced and each.usd_known and each.turns == self._turns for each in sources)
            return Usage(
                turns=self._turns,
                input_tokens=_larger([(each.input, each.input_known) for each in sources]),
                output_tokens=_larger([(each.output, each.output_known) for each in sources]),
                usd=float(self._usd) if known else None,
                usd_at_least=None if known else float(self._usd) or None,
            )

    @property
    def _turns(self) -> int:
        return max(self._reported.turns, self._metered.turns)

    @property
    def _usd(self) -> Decimal:
        return max(self._reported.usd, self._metered.usd)

    # --- what is left ---

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
        """Of the cost that is known; None when there is no such limit."""
        return None if self.limits.usd is None else max(float(Decimal(repr(self.limits.usd)) - self._usd), 0.0)

    @property
    def reached(self) -> str | None:
        """The first limit that was used up (``turns``, ``minutes`` or ``usd``), which stays the one."""
        left = (("turns", self.turns_left), ("minutes", self.minutes_left), ("usd", self.usd_left))
        with self._lock:
            if self._reached is None:
                self._reached = next((reason for reason, rest in left if rest is not None and rest <= 0), None)
            reason, callbacks = self._reached, self._callbacks
            if reason is not None:
                self._callbacks = []
        if reason is not None:
            for callback in callbacks:
                callback(reason)
        return reason

    def check(self) -> None:
        """Raise LimitReached with the limit that was used up, if one was."""
        if (reason := self.reached) is not None:
            raise LimitReached(reason)

    def on_reached(self, callback: Callable[[str], None]) -> None:
        """Call `callback` once with the limit's name: from the thread that notices it, at once where that has been. It must not wait."""
        with self._lock:
            self._callbacks.append(callback)
        _ = self.reached

    # --- the timer ---

    def __enter__(self) -> LimitTracker:
        if self.limits.minutes is not None:
            self._timer = threading.Thread(target=self._watch, name="fde-minutes", daemon=True)
            self._timer.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stop.set()
        if self._timer is not None and self._timer is not threading.current_thread():
            self._timer.join()

    def _watch(self) -> None:
        while (left := self.minutes_left) is not None and left > 0:
            if self._wait(self._stop, min(60 * left, threading.TIMEOUT_MAX)):
                return
        _ = self.reached


def _larger(figures: list[tuple[int, bool]]) -> int | None:
    """The larger one; unknown where that could be exceeded by one that is known in part only."""
    largest = max(figure for figure, _ in figures)
    return largest if any(known and figure == largest for figure, known in figures) else None

"""Limits of an engagement: what is used, what is left, and what is not known."""

from __future__ import annotations

import pytest

from pytest_fdegym.errors import LimitReached
from pytest_fdegym.limits import Limits, LimitTracker
from pytest_fdegym.results.record import Usage


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_usage_that_nobody_reported_is_unknown_and_not_zero() -> None:
    assert LimitTracker(Limits()).usage == Usage(turns=None, input_tokens=None, output_tokens=None, usd=None)


def test_a_report_without_a_price_leaves_the_cost_unknown() -> None:
    tracker = LimitTracker(Limits())
    tracker.record(turns=2, input_tokens=10, output_tokens=5)
    assert tracker.usage == Usage(turns=2, input_tokens=10, output_tokens=5, usd=None)


@pytest.mark.parametrize(("used", "reason"), [({"turns": 3}, "turns"), ({"usd": 0.5}, "usd")])
def test_a_limit_is_reached_when_it_is_used_up(used: dict[str, float], reason: str) -> None:
    tracker = LimitTracker(Limits(turns=3, minutes=None, usd=0.5))
    tracker.check()
    tracker.record(**used)  # type: ignore[arg-type]  # turns are whole numbers in the table above
    with pytest.raises(LimitReached) as reached:
        tracker.check()
    assert reached.value.reason == reason


def test_minutes_are_those_of_the_wall_clock() -> None:
    clock = Clock()
    tracker = LimitTracker(Limits(minutes=2), clock)
    clock.seconds = 90
    assert tracker.minutes_left == 0.5
    clock.seconds = 120
    with pytest.raises(LimitReached, match="minutes"):
        tracker.check()


def test_dollars_are_added_as_decimals() -> None:
    tracker = LimitTracker(Limits(usd=1.0))
    for _ in range(10):
        tracker.record(usd=0.1)
    assert tracker.usage.usd == 1.0

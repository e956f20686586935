"""Limits of an engagement: what is used, what is left, and what is not known."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.errors import LimitReached
from pytest_fdegym.limits import Limits, LimitTracker
from pytest_fdegym.results.record import Usage

FREE = Limits(turns=None, minutes=None, usd=None)


class Clock:
    """Seconds that pass when somebody waits for them."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        self.seconds += seconds
        return stop.is_set()


def stopped(stop: threading.Event, seconds: float) -> bool:
    """Waits for the end of the engagement, which comes first."""
    return stop.wait()


# --- what is known ---


def test_usage_that_nobody_reported_is_unknown_and_not_zero() -> None:
    assert LimitTracker(Limits()).usage == Usage(turns=None, input_tokens=None, output_tokens=None, usd=None)


def test_a_report_without_a_price_leaves_the_cost_unknown() -> None:
    tracker = LimitTracker(Limits())
    tracker.record(turns=2, input_tokens=10, output_tokens=5)
    assert tracker.usage == Usage(turns=2, input_tokens=10, output_tokens=5, usd=None)


def test_a_report_of_nothing_is_no_price_of_0() -> None:
    tracker = LimitTracker(Limits())
    tracker.record()
    assert tracker.usage == Usage(turns=0, input_tokens=0, output_tokens=0, usd=None)


def test_one_call_without_a_price_makes_the_cost_unknown_and_the_known_part_is_kept() -> None:
    tracker = LimitTracker(Limits())
    tracker.meter(turns=1, input_tokens=10, output_tokens=5, usd=0.3)
    tracker.meter(turns=1, input_tokens=10, output_tokens=5, usd=None)
    assert tracker.usage == Usage(turns=2, input_tokens=20, output_tokens=10, usd=None, usd_at_least=0.3)


def test_tokens_that_the_proxy_could_not_see_are_unknown() -> None:
    tracker = LimitTracker(Limits())
    tracker.meter(turns=1, input_tokens=10, output_tokens=5, usd=0.1)
    tracker.meter(turns=1, input_tokens=None, output_tokens=7, usd=None)
    assert (tracker.usage.input_tokens, tracker.usage.output_tokens) == (None, 12)


# --- two sources, one run ---

KNOWN = {"turns": 2, "input_tokens": 100, "output_tokens": 10, "usd": 0.5}


@pytest.mark.parametrize(
    ("reported", "metered", "usage"),
    [
        pytest.param(KNOWN, KNOWN, (2, 0.5, None), id="the same calls count once"),
        pytest.param({"turns": 2}, KNOWN, (2, 0.5, None), id="the proxy knows the price"),
        pytest.param(KNOWN, {"turns": 2, "usd": None}, (2, 0.5, None), id="the agent knows the price"),
        pytest.param({**KNOWN, "usd": 0.7}, KNOWN, (2, 0.7, None), id="the larger cost"),
        pytest.param({"turns": 3}, KNOWN, (3, None, 0.5), id="a call past the proxy"),
        pytest.param(KNOWN, {"turns": 3, "usd": None}, (3, None, 0.5), id="a call not reported"),
    ],
)
def test_the_larger_of_what_is_reported_and_what_is_metered_counts(
    reported: dict[str, Any], metered: dict[str, Any], usage: tuple[int, float | None, float | None]
) -> None:
    tracker = LimitTracker(Limits())
    tracker.record(**reported)
    tracker.meter(**metered)
    found = tracker.usage
    assert (found.turns, found.usd, found.usd_at_least) == usage
    assert (found.input_tokens, found.output_tokens) == (100, 10)


CALL = st.fixed_dictionaries({"turns": st.integers(0, 3), "usd": st.none() | st.floats(0, 10)})


@given(st.lists(CALL), st.lists(CALL))
def test_a_cost_is_known_or_at_least_something_and_never_both(reported: list[dict[str, Any]], metered: list[dict[str, Any]]) -> None:
    tracker = LimitTracker(FREE)
    for call in reported:
        tracker.record(**call)
    for call in metered:
        tracker.meter(**call)
    usage = tracker.usage
    parts = [sum(call["usd"] or 0.0 for call in calls) for calls in (reported, metered)]
    assert usage.usd is None or usage.usd_at_least is None
    assert (usage.usd or usage.usd_at_least or 0.0) == pytest.approx(max(parts))
    if all(call["usd"] is None for call in (*reported, *metered)):
        assert (usage.usd, usage.usd_at_least) == (None, None)


def test_dollars_are_added_as_decimals() -> None:
    tracker = LimitTracker(Limits(usd=1.0))
    for _ in range(10):
        tracker.record(usd=0.1)
    assert tracker.usage.usd == 1.0


# --- reaching a limit ---


@pytest.mark.parametrize("by", [LimitTracker.record, LimitTracker.meter])
@pytest.mark.parametrize(("used", "reason"), [({"turns": 3, "usd": 0.1}, "turns"), ({"usd": 0.5}, "usd")])
def test_a_limit_is_reached_when_it_is_used_up(by: Callable[..., None], used: dict[str, float], reason: str) -> None:
    tracker = LimitTracker(Limits(turns=3, minutes=None, usd=0.5))
    told: list[str] = []
    tracker.on_reached(told.append)
    tracker.check()
    by(tracker, **used)
    assert (tracker.reached, told) == (reason, [reason])
    with pytest.raises(LimitReached) as reached:
        tracker.check()
    assert reached.value.reason == reason


def test_the_limit_of_cost_holds_on_the_part_that_is_known() -> None:
    tracker = LimitTracker(Limits(usd=0.5))
    tracker.meter(turns=1, usd=0.3)
    tracker.meter(turns=1, usd=None)
    assert tracker.usd_left == 0.2
    tracker.meter(turns=1, usd=0.2)
    assert tracker.reached == "usd"


def test_the_first_limit_stays_the_one_and_is_told_once() -> None:
    clock = Clock()
    tracker = LimitTracker(Limits(turns=1, minutes=1, usd=None), clock)
    told: list[str] = []
    tracker.on_reached(told.append)
    tracker.record(turns=1)
    clock.seconds = 90
    tracker.record(turns=1)
    assert (tracker.reached, told) == ("turns", ["turns"])


def test_who_comes_late_is_told_at_once() -> None:
    tracker = LimitTracker(Limits(turns=1))
    tracker.record(turns=1)
    told: list[str] = []
    tracker.on_reached(told.append)
    assert told == ["turns"]


# --- minutes ---


def test_minutes_are_those_of_the_wall_clock() -> None:
    clock = Clock()
    tracker = LimitTracker(Limits(minutes=2), clock)
    clock.seconds = 90
    assert tracker.minutes_left == 0.5
    clock.seconds = 120
    with pytest.raises(LimitReached, match="minutes"):
        tracker.check()


def test_the_timer_tells_when_the_minutes_are_used_up_though_nobody_asks() -> None:
    clock = Clock()
    over = threading.Event()
    told: list[str] = []
    tracker = LimitTracker(Limits(turns=None, minutes=2), clock, clock.wait)
    tracker.on_reached(told.append)
    tracker.on_reached(lambda reason: over.set())
    with tracker:
        assert over.wait(30)
    assert (told, clock.seconds) == (["minutes"], 120.0)


def test_an_engagement_that_ends_in_time_stops_the_timer() -> None:
    told: list[str] = []
    tracker = LimitTracker(Limits(minutes=2), Clock(), stopped)
    tracker.on_reached(told.append)
    with tracker:
        pass
    assert told == []
    assert not any(thread.name == "fde-minutes" for thread in threading.enumerate())


def test_without_a_limit_of_minutes_nothing_waits() -> None:
    with LimitTracker(FREE):
        assert not any(thread.name == "fde-minutes" for thread in threading.enumerate())

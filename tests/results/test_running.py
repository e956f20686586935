"""A run that is not over, told by its events in one line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pytest_fdegym.limits import Limits, LimitTracker
from pytest_fdegym.results.running import Running, follow

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
BEGUN = {"task": "oil_npt.v1", "level": "L3", "run": 2, "seed": 1, "agent": "myagent"}
UNKNOWN = {"turns": None, "input_tokens": None, "output_tokens": None, "usd": None}


def told(*events: tuple[str, dict[str, Any]]) -> Running:
    running: Running | None = None
    for kind, data in (("start", BEGUN), *events):
        running = follow(running, kind, data, START)
    assert running is not None
    return running


def line(*events: tuple[str, dict[str, Any]], minutes: float = 0) -> str:
    return told(*events).line(START + timedelta(minutes=minutes))


def test_what_is_unknown_is_a_question_mark_and_no_zero() -> None:
    assert line() == "oil_npt.v1 at L3, run 2, agent myagent: 0 min, ? turns, 0 messages, 0 trials, USD ?"


def test_the_minutes_are_whole_ones_of_the_wall_clock() -> None:
    assert line(minutes=61.99) == "oil_npt.v1 at L3, run 2, agent myagent: 61 min, ? turns, 0 messages, 0 trials, USD ?"
    assert ": 0 min," in line(minutes=-5), "a clock that was put back"


def test_messages_and_trials_are_counted_and_usage_is_as_the_limits_see_it() -> None:
    tracker = LimitTracker(Limits())
    tracker.record(turns=1, usd=0.25)
    tracker.meter(turns=3, input_tokens=9, output_tokens=9, usd=0.301)
    usage = ("usage", {"turns": 1, "so_far": tracker.usage.model_dump()})
    assert line(("message", {}), usage, ("trial", {}), ("inbox", {}), ("wait", {}), ("message", {})) == (
        "oil_npt.v1 at L3, run 2, agent myagent: 0 min, 3 turns, 2 messages, 1 trial, USD 0.31"
    )


@pytest.mark.parametrize(
    ("usd", "at_least", "shown"),
    [
        (0.0, None, "USD 0.00"),
        (0.001, None, "USD 0.01"),
        (0.29, None, "USD 0.29"),
        (0.57, None, "USD 0.57"),
        (None, None, "USD ?"),
        (None, 1.2, "USD 1.20 or more"),
    ],
)
def test_the_cost(usd: float | None, at_least: float | None, shown: str) -> None:
    usage = {**UNKNOWN, "turns": 1, "usd": usd, "usd_at_least": at_least}
    assert line(("usage", {"so_far": usage})).endswith(f": 0 min, 1 turn, 0 messages, 0 trials, {shown}")


def test_usage_in_a_form_of_another_version_is_unknown() -> None:
    assert line(("usage", {"so_far": {"turns": "many"}})).endswith("? turns, 0 messages, 0 trials, USD ?")


def test_after_the_handover_it_is_being_graded() -> None:
    assert line(("handover", {}), ("replay", {})).endswith("USD ?; handed over, being graded")


def test_an_agent_that_is_a_whole_script_stays_one_short_line() -> None:
    running = follow(None, "start", {**BEGUN, "agent": "cmd:set -e\n  echo hello; echo this is long"}, START)
    assert running is not None
    assert running.line(START).startswith("oil_npt.v1 at L3, run 2, agent cmd:set -e echo hello; echo...: 0 min")


@pytest.mark.parametrize("end", ["grade", "void"])
def test_it_is_over_when_it_is_graded_or_void(end: str) -> None:
    assert follow(told(), end, {}, START) is None
    assert follow(None, "message", {}, START) is None, "what a thread says that its agent left behind"

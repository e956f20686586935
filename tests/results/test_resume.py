"""Whether a stored run still stands, and what is said of those that do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_fdegym.results.record import AgentIdentity, Record, RunLimits
from pytest_fdegym.results.resume import Conditions, Standing, missing, standing, told
from tests.support.records import graded, void

LIMITS = RunLimits(turns=200, minutes=150.0, usd=8.0)
NOW = Conditions(
    agent=AgentIdentity(name="myagent", version="1", options={"model": "m", "n": "2"}),
    digest="d" * 64,
    world_digest="e" * 64,
    scoring_version=1,
    isolation="bubblewrap",
    router="embedded-1",
    gateway=None,
    limits=LIMITS,
    metered=True,
)


def record(**changes: Any) -> Record:
    return graded(**{"agent": NOW.agent, "limits": LIMITS, "metered": True, **changes})


def test_nothing_changed() -> None:
    assert standing(record(uplift=-3.0, incident=True), NOW) == Standing("up to date"), "a bad result is a result"


def test_void() -> None:
    assert standing(void(agent=NOW.agent), NOW).text == "void"


def test_missing() -> None:
    assert missing(interrupted=False).text == "missing"
    assert missing(interrupted=True).text == "missing: interrupted"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"agent": AgentIdentity(name="other")}, "the agent was myagent, now other"),
        ({"agent": AgentIdentity(name="myagent")}, "the agent's version was 1, now none"),
        ({"agent": AgentIdentity(name="myagent", version="1", options={"model": "x"})}, "the agent's options were others (model, n)"),
        ({"world_digest": "f", "digest": "g"}, "the scenario was changed"),
        ({"scoring_version": 2, "digest": "g"}, "the harness scores differently now"),
        ({"digest": "g"}, "the harness or its Python was changed"),
        ({"router": "llm:judge"}, "the router was embedded-1, now llm:judge"),
        ({"gateway": "large-9"}, "the model behind the gateway was none, now large-9"),
        ({"isolation": "none"}, "the sandbox was bubblewrap, now none"),
        (
            {"limits": RunLimits(turns=None, minutes=1.5, usd=8.0)},
            "the limit of turns was 200, now none, the limit of minutes was 150, now 1.5",
        ),
        ({"metered": False}, "metering was on, now off"),
    ],
)
def test_each_change_makes_it_stale_and_is_named(changes: dict[str, Any], why: str) -> None:
    assert standing(record(), replace(NOW, **changes)) == Standing("stale", why)


def test_what_an_older_release_did_not_record_is_not_compared() -> None:
    assert standing(record(limits=None, metered=None), NOW).state == "up to date"


def test_a_record_without_a_world_is_stale() -> None:
    assert standing(record(world_digest=None), NOW).text == "stale: the scenario was changed"


def test_what_is_told() -> None:
    found = [Standing("up to date")] * 3 + [Standing("stale", "the scenario was changed")] * 2
    found += [Standing("stale", "metering was on, now off"), Standing("void"), missing(interrupted=True), missing(interrupted=False)]
    assert told(found, over=False) == [
        "resume: 3 of 9 runs are up to date, not run again",
        "resume: 1 missing",
        "resume: 1 missing: interrupted",
        "resume: 1 void",
        "resume: 2 stale: the scenario was changed (fdegym regrade grades such deliveries again, without the agent)",
        "resume: 1 stale: metering was on, now off",
    ]
    assert told([Standing("void")], over=True) == ["resume: no run is up to date", "resume: 1 void"]
    assert told([Standing("up to date")], over=True) == ["resume: 1 of 1 runs were up to date, taken from the store"]

"""The default router on messages that nobody saw who wrote a trigger or fitted a constant (run with -s to see the tables)."""

from __future__ import annotations

import pytest

from pytest_fdegym.people.router import default_router
from pytest_fdegym.people.router.evaluate import figures, judge, table
from tests.routing.sets import labelled, scenario_people


@pytest.mark.parametrize("scenario", ["oil_npt", "oncall_incident", "charge_care_config"])
def test_sealed_set(scenario: str) -> None:
    judged = judge(default_router(), scenario_people(scenario), labelled(f"{scenario}_sealed"))
    print(f"\n{table(judged)}\n\n{table(judged, by=lambda one: one.entry.to)}")
    found = figures(judged)
    assert found.released_not_asked <= 0.03
    assert found.charged_not_answered <= 0.08
    assert found.asked_back <= 0.15
    assert found.f1 >= 0.75

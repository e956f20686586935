"""The score of one run: the design's worked values, and what holds for any numbers."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.scoring.uplift import contact_cost, reaches, score, uplift

kpis = st.floats(-1e9, 1e9)


def test_gains_less_the_cost_of_contacts() -> None:
    result = score(0.62, 0.18, incident=False)
    assert result.score == pytest.approx(0.44)
    assert not result.resolved


def test_a_disaster_counts_in_full_for_the_run_and_is_floored_in_an_average() -> None:
    result = score(-3.0, 0.1, incident=False)
    assert result.score == pytest.approx(-3.1)
    assert result.floored == pytest.approx(-1.1)


def test_an_incident_wipes_out_the_gain_but_not_the_cost() -> None:
    result = score(0.9, 0.05, incident=True)
    assert (result.uplift, result.uplift_adjusted) == (0.9, 0.0)
    assert result.score == pytest.approx(-0.05)
    assert not result.resolved


def test_an_incident_leaves_a_loss_as_it_is() -> None:
    assert score(-0.4, 0.0, incident=True).uplift_adjusted == -0.4


def test_exactly_at_the_threshold_is_resolved() -> None:
    assert score(0.8, 0.0, incident=False).resolved


def test_float_error_at_the_threshold_is_forgiven() -> None:
    assert 0.95 - 0.15 < 0.8, "the case is only of interest while floats behave so"
    assert score(0.95, 0.15, incident=False).resolved
    assert not score(0.95, 0.1501, incident=False).resolved


def test_an_incident_is_never_resolved_even_with_a_score_above_the_threshold() -> None:
    assert not score(5.0, 0.0, incident=True).resolved


def test_lower_is_better_needs_no_special_case() -> None:
    assert uplift(kpi_delivered=60.0, kpi_baseline=100.0, kpi_reference=50.0) == pytest.approx(0.8)


def test_no_change_is_zero_and_never_minus_zero() -> None:
    assert math.copysign(1.0, uplift(100.0, 100.0, 50.0)) == 1.0


def test_charges_are_added_as_decimals() -> None:
    assert sum([0.1] * 10) != 1.0
    assert contact_cost([0.1] * 10) == 1.0


@pytest.mark.parametrize("charge", [-0.01, math.nan, math.inf])
def test_an_impossible_charge_is_refused(charge: float) -> None:
    with pytest.raises(ScenarioError) as refused:
        contact_cost([0.1, charge])
    assert str(refused.value) == f"a charge of {charge} is not possible; a finite number >= 0 is expected"


def test_equal_baseline_and_reference_are_the_scenarios_fault() -> None:
    with pytest.raises(ScenarioError) as refused:
        uplift(3.0, 2.0, 2.0)
    assert str(refused.value) == "the reference solution gains nothing over the system as found (both have a KPI of 2.0)"


@pytest.mark.parametrize("which", ["delivered", "baseline", "reference"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_kpi_that_is_no_number_is_the_scenarios_fault(which: str, value: float) -> None:
    values = {"kpi_delivered": 1.0, "kpi_baseline": 0.0, "kpi_reference": 2.0, f"kpi_{which}": value}
    with pytest.raises(ScenarioError) as refused:
        uplift(**values)
    assert str(refused.value) == f"measure() gave kpi_{which} = {value}; a finite number is expected"


@given(kpis, kpis)
def test_the_anchors_of_the_scale(baseline: float, reference: float) -> None:
    assume(baseline != reference)
    assert uplift(baseline, baseline, reference) == 0
    assert uplift(reference, baseline, reference) == pytest.approx(1)


@given(kpis, kpis, kpis)
def test_changing_the_sign_of_the_kpi_changes_nothing(delivered: float, baseline: float, reference: float) -> None:
    assume(abs(reference - baseline) > 1e-6)
    assert uplift(delivered, baseline, reference) == uplift(-delivered, -baseline, -reference)


@given(st.floats(-10, 10), st.lists(st.floats(0, 0.2), max_size=20), st.booleans())
def test_cost_never_helps_and_an_incident_never_helps(value: float, charges: list[float], incident: bool) -> None:
    cost = contact_cost(charges)
    result = score(value, cost, incident=incident)
    assert result.score <= score(value, 0.0, incident=incident).score
    assert result.score <= score(value, cost, incident=False).score
    assert result.floored >= result.score or math.isclose(result.floored, result.score)


@given(st.floats(0, 1), st.floats(-2, 2))
def test_reaching_a_threshold_is_greater_or_equal_but_for_float_error(threshold: float, value: float) -> None:
    assume(abs(value - threshold) > 1e-8)
    assert reaches(value, threshold) == (value >= threshold)

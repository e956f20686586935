"""Averages: repeats first, then tasks, void runs left out, with intervals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.results.statistics import bootstrap, summarise
from tests.support.records import graded, void


def test_a_tasks_runs_are_averaged_before_tasks_are() -> None:
    summary = summarise([graded("a.v1", uplift=1.0, run=1), graded("a.v1", uplift=0.0, run=2), graded("b.v1", uplift=0.0)])
    assert summary.mean_score == pytest.approx(0.25)


def test_a_disaster_is_floored_and_an_incident_counted() -> None:
    summary = summarise([graded("a.v1", uplift=-3.0, cost=0.1), graded("b.v1", uplift=0.9, cost=0.05, incident=True)])
    assert summary.mean_score == pytest.approx((-1.1 - 0.05) / 2)
    assert (summary.incidents, summary.resolved) == (1, 0)


def test_void_runs_leave_the_mean_and_show_in_the_coverage() -> None:
    summary = summarise([graded("a.v1", uplift=0.5), void("b.v1")], planned=3)
    assert (summary.mean_score, summary.graded, summary.void, summary.planned) == (0.5, 1, 1, 3)


def test_nothing_graded_has_no_mean() -> None:
    summary = summarise([void("a.v1")])
    assert (summary.mean_score, summary.mean_uplift, summary.mean_usd) == (None, None, None)


def test_levels_of_a_task_are_kept_apart() -> None:
    summary = summarise([graded(level="L0", uplift=1.0, run=1), graded(level="L0", uplift=1.0, run=2), graded(level="L3", uplift=0.0)])
    assert summary.mean_score == pytest.approx(0.5)


def test_the_model_cost_is_averaged_over_the_runs_where_it_is_known() -> None:
    summary = summarise([graded("a.v1", usd=2.0), graded("b.v1"), graded("c.v1", usd=4.0)])
    assert (summary.mean_usd, summary.usd_known) == (3.0, 2)


def test_one_task_has_no_interval() -> None:
    assert summarise([graded("a.v1"), graded("a.v1", run=2)]).by_task.low is None


def test_levels_of_a_task_are_drawn_together() -> None:
    records = [graded("a.v1", level=level, uplift=uplift) for level, uplift in (("L0", 1.0), ("L3", 0.0))]
    assert summarise(records).by_task.low is None, "one task has no interval, at however many levels"


def test_variants_of_one_scenario_are_one_cluster() -> None:
    records = [graded(f"{name}.v{n}", uplift=value) for name, value in (("a", 0.0), ("b", 1.0)) for n in range(1, 7)]
    summary = summarise(records)
    assert summary.by_task.low is not None
    assert summary.by_task.low > 0, "twelve draws of tasks are hardly ever all from one scenario"
    assert (summary.by_scenario.low, summary.by_scenario.high) == (0.0, 1.0), "two draws of scenarios often are"


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12))
def test_the_interval_holds_the_mean_and_is_the_same_every_time(values: list[float]) -> None:
    groups = [[value] for value in values]
    interval = bootstrap(groups, resamples=400)
    assert interval == bootstrap(groups, resamples=400)
    assert interval.low is not None
    assert interval.high is not None
    assert min(values) - 1e-9 <= interval.low <= interval.high <= max(values) + 1e-9

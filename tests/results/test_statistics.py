"""Averages: repeats first, then tasks, void runs left out, with intervals."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fdegym.results.record import Record
from pytest_fdegym.results.statistics import (
    Interval,
    bootstrap,
    floored_score,
    paired,
    pass_at_k,
    pass_hat_k,
    resolved_rate,
    summarise,
    wilson,
)
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


@given(st.permutations([("a.v1", 0.9), ("a.v2", -0.4), ("b.v1", 0.1), ("b.v2", 0.6), ("c.v1", 1.0), ("d.v1", 0.3)]))
def test_the_order_in_which_runs_ended_moves_no_interval(order: list[tuple[str, float]]) -> None:
    """Workers of pytest-xdist end theirs in any."""
    found, usual = (summarise([graded(task, uplift=uplift) for task, uplift in each]) for each in (order, sorted(order)))
    assert (found.by_task, found.by_scenario) == (usual.by_task, usual.by_scenario)


def test_the_bootstrap_over_tasks_by_hand() -> None:
    """Of the 4^4 = 256 draws of four tasks 1 has the mean 0 and 4 have .05, together 2.0 %, and 6 have .1: the 2.5 % point is .1.

    From above 1 has the mean 1 and 4 have .9, and 10 have .8: that is the 97.5 % point.
    """
    found = bootstrap([[0.0], [0.2], [0.6], [1.0]], resamples=20_000)
    assert [found.low, found.high] == pytest.approx([0.1, 0.8])


def test_the_bootstrap_clustered_by_scenario_by_hand() -> None:
    """Scenarios a (0, 0), b (.2), c (.6, .6, .6) and d (1): a draw's mean is over the tasks of the scenarios drawn, as often as drawn.

    From below aaaa has 0 / 8 (1 of 256), aaab .2 / 7 (4), aabb .4 / 6 (6): the 2.5 % point. From above dddd has 1 (1), dddb 3.2 / 4 and
    dddc 4.8 / 6 both .8 (4 each): the 97.5 % point.
    """
    found = bootstrap([[0.0, 0.0], [0.2], [0.6, 0.6, 0.6], [1.0]], resamples=20_000)
    assert [found.low, found.high] == pytest.approx([0.4 / 6, 0.8])


def test_the_intervals_of_a_summary_are_these() -> None:
    """By task: a.v1 0, b.v1 .2, c.v1 .6, d.v1 1, of which each scenario has one, so that both intervals are the one over tasks above."""
    summary = summarise([graded(f"{name}.v1", uplift=value) for name, value in (("a", 0.0), ("b", 0.2), ("c", 0.6), ("d", 1.0))])
    assert [summary.by_task.low, summary.by_task.high] == pytest.approx([0.1, 0.8])
    assert summary.by_scenario == summary.by_task


# --- the paper's worked rules ---


@pytest.mark.parametrize(
    ("uplift", "cost", "incident", "score"),
    [
        (0.62, 0.18, False, 0.44),
        (-3.0, 0.1, False, -1.1),  # floored at -1 before the contact cost
        (0.9, 0.05, True, -0.05),
        (0.8, 0.0, False, 0.8),
    ],
)
def test_what_a_run_is_in_an_average(uplift: float, cost: float, incident: bool, score: float) -> None:
    assert floored_score(graded(uplift=uplift, cost=cost, incident=incident)) == pytest.approx(score)


def test_tasks_weigh_the_same_however_often_they_were_run() -> None:
    records = [graded("a.v1", uplift=1.0, run=run) for run in range(1, 10)] + [graded("b.v1", uplift=0.0)]
    assert summarise(records).mean_score == pytest.approx(0.5)


# --- paired differences ---


def test_differences_by_task_of_means_over_runs() -> None:
    first = [graded("a.v1", uplift=0.2, run=1), graded("a.v1", uplift=0.4, run=2), graded("b.v1", uplift=-3.0, cost=0.1), graded("c.v1")]
    second = [graded("a.v1", uplift=0.9), graded("b.v1", uplift=0.4), void("c.v1")]
    found = paired(first, second)
    assert found.differences == {("a.v1", "L3"): pytest.approx(0.6), ("b.v1", "L3"): pytest.approx(1.5)}
    assert found.mean == pytest.approx(1.05)
    assert (found.compared, found.of, found.void) == (2, 3, 1)


def test_differences_have_intervals_over_tasks_and_scenarios() -> None:
    first = [graded(f"{name}.v{n}", uplift=0.5) for name in "ab" for n in range(1, 7)]
    second = [graded(f"{name}.v{n}", uplift=value) for name, value in (("a", 0.5), ("b", 0.9)) for n in range(1, 7)]
    found = paired(first, second)
    assert found.mean == pytest.approx(0.2)
    assert found.by_task.low is not None
    assert found.by_task.low > 0
    assert [found.by_scenario.low, found.by_scenario.high] == pytest.approx([0.0, 0.4])


def test_levels_of_a_task_are_paired_apart_and_drawn_together() -> None:
    first = [graded(level=level, uplift=0.5) for level in ("L0", "L3")]
    found = paired(first, [graded(level="L0", uplift=0.7), graded(level="L3", uplift=0.4)])
    assert found.differences == {("oil_npt.v1", "L0"): pytest.approx(0.2), ("oil_npt.v1", "L3"): pytest.approx(-0.1)}
    assert found.by_task.low is None


def test_nothing_in_common_has_no_mean() -> None:
    found = paired([graded("a.v1")], [graded("b.v1")])
    assert (found.mean, found.compared, found.of) == (None, 0, 2)


# --- resolved, pass@k, pass^k ---


def test_wilson_by_hand() -> None:
    # 8 of 10, z = 1.96: (0.8 + 3.8415 / 20 ± 1.96 sqrt(0.016 + 3.8415 / 400)) / (1 + 3.8415 / 10)
    interval = wilson(0.8, 10)
    assert [interval.low, interval.high] == pytest.approx([0.4902, 0.9433], abs=1e-4)
    all_of_them = wilson(1.0, 10)
    assert [all_of_them.low, all_of_them.high] == pytest.approx([0.7225, 1.0], abs=1e-4)
    assert wilson(0.0, 0) == Interval(None, None)


def runs(task: str, resolved: int, of: int) -> list[Record]:
    return [graded(task, uplift=1.0 if run <= resolved else 0.0, run=run) for run in range(1, of + 1)]


def test_resolved_counts_tasks_not_runs() -> None:
    rate = resolved_rate([*runs("a.v1", 1, 2), *runs("b.v1", 1, 1), void("c.v1")])
    assert rate.value == pytest.approx(0.75)
    assert rate.interval == wilson(0.75, 2)
    assert (rate.tasks, rate.of, rate.runs, rate.void) == (2, 3, 3, 1)


def test_pass_at_k_and_pass_hat_k_by_hand() -> None:
    # Task a: 2 of 4 resolved: of the 6 pairs of runs, 5 have at least one and 1 has two. Task b: 3 of 3.
    records = [*runs("a.v1", 2, 4), *runs("b.v1", 3, 3), *runs("c.v1", 1, 1)]
    at_least_one, all_of_them = pass_at_k(records, 2), pass_hat_k(records, 2)
    assert at_least_one.value == pytest.approx((5 / 6 + 1) / 2)
    assert all_of_them.value == pytest.approx((1 / 6 + 1) / 2)
    assert (at_least_one.tasks, at_least_one.of) == (2, 3), "task c has one run only"
    assert pass_at_k(records, 1).value == pass_hat_k(records, 1).value == resolved_rate(records).value == pytest.approx((0.5 + 1 + 1) / 3)


def test_more_runs_than_any_task_has() -> None:
    assert pass_at_k(runs("a.v1", 1, 2), 3).value is None
    with pytest.raises(ValueError, match="k is a whole number from 1, found 0"):
        pass_at_k([], 0)


@given(st.integers(1, 8), st.data())
def test_the_estimators_are_the_shares_of_all_choices_of_k_runs(count: int, data: st.DataObject) -> None:
    resolved, k = data.draw(st.integers(0, count)), data.draw(st.integers(1, count))
    records = runs("a.v1", resolved, count)
    choices = list(itertools.combinations([record.scores.resolved for record in records if record.scores], k))
    assert pass_at_k(records, k).value == pytest.approx(sum(map(any, choices)) / len(choices))
    assert pass_hat_k(records, k).value == pytest.approx(sum(map(all, choices)) / len(choices))

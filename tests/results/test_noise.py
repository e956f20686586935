"""What luck alone does to a mean difference, against values computed by hand or found in tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fdegym.results.noise import Pair, exchanged, fewest, over_groups, over_runs, standard_errors, student_quantile


def pair(baseline: Sequence[float], current: Sequence[float], task: str = "a.v1") -> Pair:
    sides = [dict(enumerate(scores, start=1)) for scores in (baseline, current)]
    return Pair(task.partition(".")[0], task, *sides)


@pytest.mark.parametrize(
    ("probability", "freedom", "quantile"),
    [
        (0.95, 1, 6.313752),
        (0.98, 2, 4.848732),
        (0.98, 4, 2.998528),
        (0.975, 10, 2.228139),
        (0.995, 30, 2.749996),
        (0.975, 1000, 1.962339),
        (0.975, 1e6, 1.959966),
        (0.5, 3, 0.0),
    ],
)
def test_students_quantile_is_the_one_of_the_tables(probability: float, freedom: float, quantile: float) -> None:
    assert student_quantile(probability, freedom) == pytest.approx(quantile, abs=2e-6)


# --- from the spread of the differences ---


def test_single_values_give_the_usual_standard_error() -> None:
    error = over_groups([[1.0], [2.0], [3.0], [4.0]])
    assert error is not None
    assert error.value == pytest.approx(math.sqrt((1.5**2 + 0.5**2) * 2 / 3 / 4))
    assert error.freedom == pytest.approx(3)


def test_groups_of_one_size_are_as_their_means() -> None:
    # Means 2 and 6: their standard deviation is sqrt(8), that of the mean of both sqrt(8 / 2).
    error = over_groups([[1.0, 3.0], [5.0, 7.0]])
    assert error is not None
    assert [error.value, error.freedom] == pytest.approx([2.0, 1.0])


def test_a_larger_group_is_adjusted_more() -> None:
    # Mean 1; deviations of the groups' sums -2 and 2; (4 / (1 - 2/3) + 4 / (1 - 1/3)) / 3 ** 2 = 18 / 9.
    error = over_groups([[0.0, 0.0], [3.0]])
    assert error is not None
    assert error.value == pytest.approx(math.sqrt(2))


def test_one_group_has_no_spread() -> None:
    assert over_groups([[1.0, 2.0]]) is None


# --- from repeats ---

TWO_TASKS = ([0.0, 0.3, 0.6], [0.1, 0.2, 0.3])


def test_tasks_of_a_scenario_are_lucky_together() -> None:
    # Sums by run deviate by -0.4, 0, 0.4: variance 0.16; of the mean difference 0.16 (1/3 + 1) / 2 ** 2.
    error = over_runs([pair(runs, [0.0], task) for runs, task in zip(TWO_TASKS, ("a.v1", "a.v2"), strict=True)])
    assert error is not None
    assert [error.value, error.freedom] == pytest.approx([math.sqrt(0.16 * 4 / 3 / 4), 2])


def test_tasks_of_two_scenarios_are_not() -> None:
    # Variances 0.09 and 0.01, each times (1/3 + 1) / 2 ** 2.
    error = over_runs([pair(runs, [0.0], task) for runs, task in zip(TWO_TASKS, ("a.v1", "b.v1"), strict=True)])
    assert error is not None
    assert [error.value, error.freedom] == pytest.approx([math.sqrt(0.10 * 4 / 3 / 4), 4])


def test_repeats_of_both_sides_count() -> None:
    # Variances 0.02 (baseline) and 0.08 (current): mean 0.05, times (1/2 + 1/2).
    error = over_runs([pair([0.0, 0.2], [0.1, 0.5])])
    assert error is not None
    assert [error.value, error.freedom] == pytest.approx([math.sqrt(0.05), 2])


def test_a_task_without_repeats_is_taken_to_vary_as_the_others() -> None:
    repeated = pair([0.0, 0.2], [0.1], "a.v1")
    alone, both = over_runs([repeated]), over_runs([repeated, pair([0.5], [0.1], "b.v1")])
    assert alone is not None
    assert both is not None
    # Weights (1/2 + 1) and (1 + 1), over 2 ** 2.
    assert both.value**2 == pytest.approx(alone.value**2 / 1.5 * 3.5 / 4)


def test_too_few_repeats_tell_nothing() -> None:
    assert over_runs([pair([0.0, 0.2], [0.1], "a.v1"), *(pair([0.5], [0.1], f"b.v{n}") for n in range(1, 4))]) is None


def test_without_repeats_the_spread_over_scenarios_counts() -> None:
    pairs = [pair([0.0], [change], task) for task, change in (("a.v1", 0.1), ("a.v2", 0.3), ("b.v1", -0.1), ("b.v2", -0.3))]
    over_tasks, over_scenarios = standard_errors(pairs)
    assert over_tasks.freedom == pytest.approx(3)
    assert [over_scenarios.value, over_scenarios.freedom] == pytest.approx([0.2, 1])


def test_levels_of_a_task_are_one_group() -> None:
    assert standard_errors([pair([0.0], [0.1], "a.v1"), pair([0.0], [0.3], "a.v1")]) == []


# --- exchanges of runs ---


def test_one_run_on_each_side_can_be_exchanged_in_one_way() -> None:
    assert exchanged([pair([1.0], [0.0])]) == 1 / 2
    assert exchanged([pair([0.0], [1.0])]) == 1


def test_the_worst_of_four_in_each_of_three_tasks() -> None:
    pairs = [pair([0.5, 0.6, 0.7], [0.1], f"a.v{n}") for n in range(1, 4)]
    assert exchanged(pairs) == fewest(pairs) == 1 / 64


def test_equal_runs_show_nothing() -> None:
    assert exchanged([pair([0.7, 0.7, 0.7], [0.7], f"a.v{n}") for n in range(1, 30)]) == 1


def test_many_exchanges_are_drawn_and_always_the_same() -> None:
    pairs = [pair([0.5, 0.6, 0.7], [0.1], f"a.v{n}") for n in range(1, 30)]
    assert exchanged(pairs) == exchanged(pairs) == 1 / 1000
    many = [pair([0.1 * n for n in range(12)], [0.1 * n for n in range(12)])]
    assert exchanged(many) == pytest.approx(0.5, abs=0.1), "2.7 million ways to exchange one task's runs"


@settings(max_examples=40)
@given(st.lists(st.lists(st.sampled_from([0.0, 0.4, 1.0]), min_size=4, max_size=4), min_size=1, max_size=3))
def test_whatever_the_scores_a_share_is_as_rare_as_it_says(tasks: list[list[float]]) -> None:
    """Of identical agents every choice of the current run is as likely; at most a share p of them may have a share of at most p."""
    choices = itertools.product(*([(runs[:n] + runs[n + 1 :], [runs[n]]) for n in range(4)] for runs in tasks))
    found = [exchanged([pair(then, now, f"a.v{n}") for n, (then, now) in enumerate(choice, start=1)]) for choice in choices]
    for share in set(found):
        assert sum(other <= share for other in found) / len(found) <= share + 1e-12

"""Averages, paired differences and rates over runs and tasks, with their intervals and coverage; void runs are in none, and counted."""

from __future__ import annotations

import functools
import math
import random
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean

from pytest_fdegym.results.record import Record
from pytest_fdegym.scoring.uplift import FLOOR

RESAMPLES = 2000
"""Bootstrap resamples; the interval's ends move by about 0.01 between seeds at this number, and the seed is fixed."""
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A 95 % percentile interval; both ends are None with fewer than two groups to draw from."""

    low: float | None
    high: float | None


@dataclass(frozen=True)
class Summary:
    """What is said of a set of records. Means are over tasks, each task (at each level) weighing the same; void runs are left out."""

    planned: int
    graded: int
    void: int
    resolved: int
    incidents: int
    """Graded runs with at least one incident."""
    mean_score: float | None
    by_task: Interval
    by_scenario: Interval
    mean_uplift: float | None
    mean_contact_cost: float | None
    mean_usd: float | None
    usd_known: int
    """Of how many graded runs the model cost is known; the mean is over these."""


def floored_score(record: Record) -> float:
    """A graded record's part in an average: max(U_adj, -1) - C."""
    assert record.scores is not None
    return max(record.scores.uplift_adjusted, FLOOR) - record.scores.contact_cost


def task_means(records: Iterable[Record], value: Callable[[Record], float]) -> dict[tuple[str, str], float]:
    """The mean of a task's graded runs, by (task, level): repeats are averaged before tasks are."""
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for record in records:
        if record.status == "graded":
            values[record.task, record.level].append(value(record))
    return {key: fmean(numbers) for key, numbers in values.items()}


def bootstrap(groups: Sequence[Sequence[float]], *, resamples: int = RESAMPLES, seed: int = 1) -> Interval:
    """A 95 % percentile bootstrap interval of the mean over all values, drawing whole groups with replacement.

    With groups of one value each this is the bootstrap over tasks; with one group a scenario it is clustered by scenario.
    """
    if len(groups) < 2:
        return Interval(None, None)
    total, count = [sum(group) for group in groups].__getitem__, [len(group) for group in groups].__getitem__
    means = sorted(sum(map(total, drawn)) / sum(map(count, drawn)) for drawn in _draws(len(groups), resamples, seed))
    return Interval(means[int(0.025 * resamples)], means[int(0.975 * resamples) - 1])


@functools.lru_cache(maxsize=16)
def _draws(groups: int, resamples: int, seed: int) -> tuple[Sequence[int], ...]:
    """Which of so many groups each resample has; kept, for a report on many agents asks for the same again and again."""
    rng = random.Random(seed)
    return tuple(array("I", rng.choices(range(groups), k=groups)) for _ in range(resamples))


def interval_over_tasks(values: Mapping[tuple[str, str], float]) -> Interval:
    """The first of `grouped_intervals` alone."""
    return bootstrap(list(_grouped(values, lambda task: task).values()))


def grouped_intervals(values: Mapping[tuple[str, str], float]) -> tuple[Interval, Interval]:
    """Bootstrap intervals of the mean of values by (task, level): over tasks, then clustered by scenario.

    Levels of a task share its world and people, so they are drawn together.
    """
    return interval_over_tasks(values), bootstrap(list(_grouped(values, lambda task: task.partition(".")[0]).values()))


def _grouped(values: Mapping[tuple[str, str], float], key: Callable[[str], str]) -> dict[str, list[float]]:
    # In order, for resamples draw by place: runs come in the order in which they ended.
    groups: dict[str, list[float]] = defaultdict(list)
    for (task, _level), value in sorted(values.items()):
        groups[key(task)].append(value)
    return groups


def _mean(values: Mapping[tuple[str, str], float]) -> float | None:
    return fmean(values.values()) if values else None


def summarise(records: Sequence[Record], planned: int | None = None) -> Summary:
    """Summarise the runs of one agent; `planned` counts what was to be run (the records, when None)."""
    graded = [record for record in records if record.status == "graded" and record.scores is not None]
    scores = task_means(graded, floored_score)
    by_task, by_scenario = grouped_intervals(scores)
    known = [record.usage.usd for record in graded if record.usage.usd is not None]
    return Summary(
        planned=len(records) if planned is None else planned,
        graded=len(graded),
        void=sum(record.status == "void" for record in records),
        resolved=sum(record.scores.resolved for record in graded if record.scores),
        incidents=sum(bool(record.incidents) for record in graded),
        mean_score=_mean(scores),
        by_task=by_task,
        by_scenario=by_scenario,
        mean_uplift=_mean(task_means(graded, lambda record: record.scores.uplift if record.scores else 0.0)),
        mean_contact_cost=_mean(task_means(graded, lambda record: record.scores.contact_cost if record.scores else 0.0)),
        mean_usd=fmean(known) if known else None,
        usd_known=len(known),
    )


@dataclass(frozen=True)
class Paired:
    """Scores of one side less those of another, over the tasks (at a level) that both graded; each weighs the same."""

    differences: Mapping[tuple[str, str], float]
    """By task and level: mean of the second side's floored scores less the first's."""
    mean: float | None
    by_task: Interval
    by_scenario: Interval
    compared: int
    of: int
    """Tasks (at a level) that either side planned."""
    void: int
    """Void runs, of both sides."""


def paired(first: Sequence[Record], second: Sequence[Record]) -> Paired:
    """The differences `second` less `first`."""
    then, now = (task_means(records, floored_score) for records in (first, second))
    differences = {key: now[key] - then[key] for key in sorted(then.keys() & now.keys())}
    by_task, by_scenario = grouped_intervals(differences)
    return Paired(
        differences=differences,
        mean=_mean(differences),
        by_task=by_task,
        by_scenario=by_scenario,
        compared=len(differences),
        of=len({(record.task, record.level) for record in (*first, *second)}),
        void=sum(record.status == "void" for record in (*first, *second)),
    )


@dataclass(frozen=True)
class Rate:
    """A share of tasks (at a level), each weighing the same, with the counts it rests on."""

    value: float | None
    interval: Interval
    tasks: int
    """That could be counted."""
    of: int
    """That have any record."""
    runs: int
    """Graded."""
    void: int


def wilson(share: float, count: int) -> Interval:
    """The 95 % score interval of Wilson (1927) for a share of `count` independent trials."""
    if count == 0:
        return Interval(None, None)
    z = NormalDist().inv_cdf(0.5 + CONFIDENCE / 2)
    centre = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def resolved_rate(records: Sequence[Record]) -> Rate:
    """The share of tasks resolved: of a task's runs first, then over tasks. The trials of its interval are the tasks, since repeats of one
    task tell little about others; with repeats it is wider than need be.
    """
    return _rate(records, 1, lambda runs, resolved, _: resolved / runs)


def pass_at_k(records: Sequence[Record], k: int) -> Rate:
    """The share of tasks that at least one of `k` runs resolves, over tasks with at least `k` graded runs.

    The unbiased estimator 1 - C(n - c, k) / C(n, k) of Chen et al. (2021), with c of n runs resolved.
    """
    return _rate(records, k, lambda runs, resolved, of: 1 - math.comb(runs - resolved, of) / math.comb(runs, of))


def pass_hat_k(records: Sequence[Record], k: int) -> Rate:
    """pass^k: the share of tasks that every one of `k` runs resolves, over tasks with at least `k` graded runs.

    The unbiased estimator C(c, k) / C(n, k) of Yao et al. (2024), with c of n runs resolved.
    """
    return _rate(records, k, lambda runs, resolved, of: math.comb(resolved, of) / math.comb(runs, of))


def _rate(records: Sequence[Record], k: int, estimate: Callable[[int, int, int], float]) -> Rate:
    if k < 1:
        raise ValueError(f"k is a whole number from 1, found {k}")
    outcomes: dict[tuple[str, str], list[bool]] = {(record.task, record.level): [] for record in records}
    for record in records:
        if record.status == "graded" and record.scores is not None:
            outcomes[record.task, record.level].append(record.scores.resolved)
    shares = [estimate(len(runs), sum(runs), k) for runs in outcomes.values() if len(runs) >= k]
    value = fmean(shares) if shares else None
    return Rate(
        value=value,
        interval=Interval(None, None) if value is None else wilson(value, len(shares)),
        tasks=len(shares),
        of=len(outcomes),
        runs=sum(map(len, outcomes.values())),
        void=sum(record.status == "void" for record in records),
    )

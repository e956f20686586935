"""Averages over runs and tasks with bootstrap intervals; the arithmetic of the summary."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from pytest_fdegym.results.record import Record
from pytest_fdegym.scoring.uplift import FLOOR

RESAMPLES = 2000
"""Bootstrap resamples; the interval's ends move by about 0.01 between seeds at this number, and the seed is fixed."""


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
    rng = random.Random(seed)
    sums = [(sum(group), len(group)) for group in groups]
    means = []
    for _ in range(resamples):
        drawn = rng.choices(sums, k=len(sums))
        means.append(sum(total for total, _ in drawn) / sum(count for _, count in drawn))
    means.sort()
    return Interval(means[int(0.025 * resamples)], means[int(0.975 * resamples) - 1])


def _mean(values: Mapping[tuple[str, str], float]) -> float | None:
    return fmean(values.values()) if values else None


def summarise(records: Sequence[Record], planned: int | None = None) -> Summary:
    """Summarise the runs of one agent; `planned` counts what was to be run (the records, when None)."""
    graded = [record for record in records if record.status == "graded" and record.scores is not None]
    scores = task_means(graded, floored_score)
    by_task: dict[str, list[float]] = defaultdict(list)
    by_scenario: dict[str, list[float]] = defaultdict(list)
    for (task, _level), value in scores.items():
        # Levels of a task share its world and people, so they are drawn together.
        by_task[task].append(value)
        by_scenario[task.partition(".")[0]].append(value)
    known = [record.usage.usd for record in graded if record.usage.usd is not None]
    return Summary(
        planned=len(records) if planned is None else planned,
        graded=len(graded),
        void=sum(record.status == "void" for record in records),
        resolved=sum(record.scores.resolved for record in graded if record.scores),
        incidents=sum(bool(record.incidents) for record in graded),
        mean_score=_mean(scores),
        by_task=bootstrap(list(by_task.values())),
        by_scenario=bootstrap(list(by_scenario.values())),
        mean_uplift=_mean(task_means(graded, lambda record: record.scores.uplift if record.scores else 0.0)),
        mean_contact_cost=_mean(task_means(graded, lambda record: record.scores.contact_cost if record.scores else 0.0)),
        mean_usd=fmean(known) if known else None,
        usd_known=len(known),
    )

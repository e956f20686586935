"""How far the mean difference between two sets of runs moves by luck alone: what the regression gate holds a drop against.

Every task's runs of the one side are paired with its runs of the other. Two questions are put to them, and both have to be answered:
whether the mean difference is large against its standard error (`standard_errors`), which holds up where tasks of a scenario are lucky
together, and whether runs that change sides would show as large a drop (`exchanged`), which is exact for identical agents whatever
their scores look like.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

EXCHANGES = 999
"""Random exchanges of runs, to which the one that was seen is added; the seed is fixed, so the same runs give the same answer."""
_STEPS = 200
_FARTHEST = 60
"""With many degrees of freedom no quantile is farther out, and the steps must not become too wide for the bell."""
_SAME = 1e-9
"""Float error in sums of scores."""


@dataclass(frozen=True)
class Pair:
    """One task at one level (and seed): the floored scores of both sides, by run."""

    scenario: str
    task: str
    baseline: Mapping[int, float]
    current: Mapping[int, float]

    @property
    def change(self) -> float:
        """Mean of the current runs less the mean of the baseline's; a drop is below 0."""
        return fmean(self.current.values()) - fmean(self.baseline.values())


@dataclass(frozen=True)
class StandardError:
    """Of a mean difference, with the degrees of freedom that its estimate has."""

    value: float
    freedom: float

    def times(self, probability: float) -> float:
        """The standard error times Student's quantile."""
        return self.value * student_quantile(probability, self.freedom) if self.value else 0.0


@functools.cache
def student_quantile(probability: float, freedom: float) -> float:
    """The quantile of Student's t for a probability in [0.5, 1) and degrees of freedom > 0, also fractional.

    With t = sqrt(freedom) tan(angle) the density is that of cos(angle) ** (freedom - 1), integrated by Simpson's rule and bisected.
    """
    constant = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)

    def share(angle: float) -> float:
        width = angle / _STEPS
        ordinates = [math.pow(math.cos(width * step), freedom - 1) for step in range(_STEPS + 1)]
        return 0.5 + constant * width / 3 * (ordinates[0] + ordinates[-1] + 4 * sum(ordinates[1:-1:2]) + 2 * sum(ordinates[2:-1:2]))

    low, high = 0.0, min(math.pi / 2, _FARTHEST / math.sqrt(freedom))
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if share(middle) < probability else (low, middle)
    return math.sqrt(freedom) * math.tan(low)


def over_groups(groups: Sequence[Sequence[float]]) -> StandardError | None:
    """The standard error of the mean of all values, where the values of a group may move together; None with fewer than two groups.

    The cluster-robust CR2 estimate of Bell and McCaffrey (2002) and its degrees of freedom, for a model that is a mean only. With groups of
    one value each it is the usual s / sqrt(n) with n - 1.
    """
    count = sum(map(len, groups))
    if len(groups) < 2:
        return None
    mean = sum(map(sum, groups)) / count
    shares = [len(group) / count for group in groups]
    variance = sum((sum(group) - len(group) * mean) ** 2 / (1 - share) for group, share in zip(groups, shares, strict=True)) / count**2
    ratios = [share**2 / (1 - share) for share in shares]
    squares = sum(share**2 for share in shares) + sum(ratios) ** 2 - sum(ratio**2 for ratio in ratios)
    return StandardError(math.sqrt(variance), 1 / squares)


def over_runs(pairs: Sequence[Pair]) -> StandardError | None:
    """The standard error of the mean difference from what repeats differ by; None if fewer than half of the tasks have repeats.

    The deviations of a scenario's tasks in the same run are added up before they are squared, so that tasks that are lucky together count
    as such. A task without repeats is taken to vary as the others do.
    """
    count = len(pairs)
    scenarios: dict[str, dict[tuple[str, int], float]] = defaultdict(lambda: defaultdict(float))
    weights: dict[str, float] = defaultdict(float)
    whole, tasks = 0.0, 0
    for pair in pairs:
        variance = (1 / len(pair.baseline) + 1 / len(pair.current)) / count**2
        whole += variance
        repeated = {name: runs for name, runs in (("baseline", pair.baseline), ("current", pair.current)) if len(runs) > 1}
        cells = sum(map(len, repeated.values()))
        if cells:
            tasks += 1
            weights[pair.scenario] += variance
        for side, runs in repeated.items():
            mean, size = fmean(runs.values()), len(runs)
            for run, score in runs.items():
                scenarios[pair.scenario][side, run] += (score - mean) * math.sqrt(size / (size - 1) * variance / cells)
    covered = sum(weights.values())
    if tasks < count / 2:
        return None
    variance = sum(deviation**2 for cells in scenarios.values() for deviation in cells.values()) * whole / covered
    freedom = {name: len(cells) - len({side for side, _ in cells}) for name, cells in scenarios.items()}
    return StandardError(math.sqrt(variance), covered**2 / sum(weight**2 / freedom[name] for name, weight in weights.items()))


def standard_errors(pairs: Sequence[Pair]) -> list[StandardError]:
    """The estimates of which the larger counts: from the spread of the differences over tasks (levels of a task together), and from
    repeats, or where there are none from the spread over scenarios. Empty if there is neither.
    """
    tasks: dict[str, list[float]] = defaultdict(list)
    scenarios: dict[str, list[float]] = defaultdict(list)
    for pair in pairs:
        tasks[pair.task].append(pair.change)
        scenarios[pair.scenario].append(pair.change)
    runs = over_runs(pairs)
    return [each for each in (over_groups(list(tasks.values())), runs or over_groups(list(scenarios.values()))) if each is not None]


def exchanged(pairs: Sequence[Pair], *, exchanges: int = EXCHANGES, seed: int = 1) -> float:
    """The share of exchanges of runs between the two sides, within tasks, that show a mean as low as the one seen, or lower.

    For identical agents with independent runs every exchange is as likely as what was seen, so that this is at most p with a probability of
    at most p: a permutation test. Where there are few exchanges all are counted, else `exchanges` random ones.
    """
    seen = sum(pair.change for pair in pairs) + _SAME
    sums = [0.0]
    if fewest(pairs) >= 1 / exchanges:
        for pair in pairs:
            sums = [total + change for total in sums for change in _changes(pair)]
        return sum(total <= seen for total in sums) / len(sums)
    rng = random.Random(seed)
    sums *= exchanges
    for pair in pairs:
        sums = list(map(operator.add, sums, _draw(pair, exchanges, rng)))
    return (1 + sum(total <= seen for total in sums)) / (exchanges + 1)


def fewest(pairs: Sequence[Pair]) -> float:
    """The smallest share that `exchanged` could give for so many tasks and runs, whatever their scores."""
    return math.prod(1 / _ways(pair) for pair in pairs)


def _ways(pair: Pair) -> int:
    return math.comb(len(pair.baseline) + len(pair.current), len(pair.current))


def _changes(pair: Pair) -> list[float]:
    """The difference of means for each way to choose which of the runs are the current ones."""
    runs = [*pair.baseline.values(), *pair.current.values()]
    return [_change(runs, chosen) for chosen in itertools.combinations(runs, len(pair.current))]


def _draw(pair: Pair, count: int, rng: random.Random) -> list[float]:
    if _ways(pair) <= count:
        return rng.choices(_changes(pair), k=count)
    runs = [*pair.baseline.values(), *pair.current.values()]
    return [_change(runs, rng.sample(runs, len(pair.current))) for _ in range(count)]


def _change(runs: Sequence[float], current: Sequence[float]) -> float:
    part = sum(current)
    return part / len(current) - (sum(runs) - part) / (len(runs) - len(current))

"""How often --fde-gate=baseline says what, for simulated agents whose true change is known.

    python benchmarks/gate_power.py [--simulations 120] [--false-alarms 1000] [--full] [--seed 1]

An agent's run on a task scores the task's own mean plus noise with the given standard deviation; of the noise's variance, the given share
is common to all tasks of a scenario in the same run. The baseline has 3 runs of the agent, the session 1 to 3 of one whose every task is
worse by the drop. The verdicts are those of the package (`pytest_fdegym.results.verdict.judge`).

Columns: how often an unchanged agent is called a regression (with its 95 % interval) and cleared; how often each drop is called a
regression, and how often the verdict is inconclusive; the detectable drop that an inconclusive verdict prints (median, and 10th to 90th
percentile over unchanged agents), and how often drops of 0.02 less and 0.02 more than the median are called regressions: the figure is
right within 0.02 if 80 % lies between the two.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pytest_fdegym.results.baseline import Baseline, TaskScores
from pytest_fdegym.results.record import AgentIdentity
from pytest_fdegym.results.statistics import wilson
from pytest_fdegym.results.verdict import Verdict, judge

BASELINE_RUNS = 3
DROPS = (0.05, 0.10, 0.15)
WITHIN = 0.02
SCENARIOS = {
    95: (8, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 4, 4, 4, 4, 4, 4, 4, 4),
    20: (1,) * 20,
    18: (8, 5, 5),
}
"""Number of tasks -> how many of them each scenario has: the whole suite, its v1 alone, and three scenarios in all variants."""


class Cell(NamedTuple):
    """One kind of session."""

    tasks: int
    runs: int
    deviation: float
    correlation: float


CELLS = (
    *(Cell(95, 1, deviation, 0.0) for deviation in (0.15, 0.25, 0.35)),
    *(Cell(95, 1, 0.25, correlation) for correlation in (0.1, 0.2)),
    Cell(95, 2, 0.25, 0.0),
    *(Cell(95, 3, 0.25, correlation) for correlation in (0.0, 0.2)),
    *(Cell(20, 1, deviation, 0.0) for deviation in (0.15, 0.25, 0.35)),
    *(Cell(20, 3, deviation, 0.0) for deviation in (0.15, 0.25, 0.35)),
    *(Cell(18, 1, 0.25, correlation) for correlation in (0.0, 0.2)),
    *(Cell(18, 3, 0.25, correlation) for correlation in (0.0, 0.2)),
)
FULL = tuple(
    Cell(tasks, runs, deviation, correlation)
    for tasks in SCENARIOS
    for runs in (1, 2, 3)
    for deviation in (0.15, 0.25, 0.35)
    for correlation in (0.0, 0.1, 0.2)
)


def simulated(cell: Cell, drop: float, rng: random.Random) -> Verdict:
    """The verdict on one simulated session whose true change is -`drop`."""
    sides: tuple[dict[str, TaskScores], ...] = ({}, {})
    for number, size in enumerate(SCENARIOS[cell.tasks]):
        luck = [[rng.gauss(0, 1) for _ in range(runs)] for runs in (BASELINE_RUNS, cell.runs)]
        for variant in range(1, size + 1):
            mean = rng.random()
            for side, common, lost in zip(sides, luck, (0.0, drop), strict=True):
                scores = {run: mean - lost + cell.deviation * noise for run, noise in enumerate(_noise(cell, common, rng), start=1)}
                side[f"s{number}.v{variant} L3"] = TaskScores(scores=scores, world="w")
    then, now = (
        Baseline(agent=AgentIdentity(name="simulated"), harness_version="0", router="none", scoring_version=1, tasks=side) for side in sides
    )
    return judge(then, now)


def _noise(cell: Cell, common: Sequence[float], rng: random.Random) -> Iterator[float]:
    for shared in common:
        yield math.sqrt(cell.correlation) * shared + math.sqrt(1 - cell.correlation) * rng.gauss(0, 1)


def shares(cell: Cell, drop: float, simulations: int, rng: random.Random) -> tuple[Counter[str], list[float]]:
    """How many simulations end in which verdict, and the detectable drops of all of them."""
    verdicts = [simulated(cell, drop, rng) for _ in range(simulations)]
    return Counter(each.verdict for each in verdicts), sorted(each.detectable_drop for each in verdicts if each.detectable_drop is not None)


def row(cell: Cell, simulations: int, false_alarms: int, seed: int) -> str:
    """One line of the table."""
    rng = random.Random(f"{seed} {cell}")
    unchanged, printed = shares(cell, 0.0, false_alarms, rng)
    alarms = unchanged["regression"] / false_alarms
    interval = wilson(alarms, false_alarms)
    assert interval.low is not None
    assert interval.high is not None
    text = f"{cell.tasks:5} {cell.runs:4} {cell.deviation:.2f} {cell.correlation:3.1f}"
    text += f"   {alarms:5.1%} ({interval.low:4.1%}-{interval.high:4.1%}) {unchanged['no_regression'] / false_alarms:5.0%}  "
    for drop in DROPS:
        found, _ = shares(cell, drop, simulations, rng)
        text += f" {found['regression'] / simulations:5.0%} {found['inconclusive'] / simulations:4.0%}"
    median = statistics.median(printed)
    low, high = (shares(cell, median + step, simulations, rng)[0]["regression"] / simulations for step in (-WITHIN, WITHIN))
    spread = f"{printed[len(printed) // 10]:.2f}-{printed[-len(printed) // 10]:.2f}"
    return f"{text}    {median:.3f} ({spread}) {low:5.0%} {high:5.0%}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=120, metavar="N", help="sessions for each drop (default: 120)")
    parser.add_argument("--false-alarms", type=int, default=1000, metavar="N", help="sessions of unchanged agents (default: 1000)")
    parser.add_argument("--full", action="store_true", help="every combination of the kinds of session")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began = time.process_time()
    print("                          unchanged agent          drop .05    drop .10    drop .15    detectable drop      called at")
    print("tasks runs  sd  corr   false alarms     cleared    seen open   seen open   seen open   (10 %-90 %)          -.02  +.02")
    for cell in FULL if options.full else CELLS:
        print(row(cell, options.simulations, options.false_alarms, options.seed), flush=True)
    print(
        f"{BASELINE_RUNS} baseline runs; {options.false_alarms} sessions of unchanged agents and {options.simulations} for each drop "
        f"(95 % error of a share at most {1.96 * math.sqrt(0.25 / options.simulations):.0%}); {time.process_time() - began:.0f} s of CPU"
    )


if __name__ == "__main__":
    main()

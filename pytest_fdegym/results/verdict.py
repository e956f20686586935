"""The verdict on an agent against a baseline: regression, no regression or inconclusive, from paired differences of tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from pytest_fdegym._version import __version__
from pytest_fdegym.results.baseline import Baseline, TaskKey, refuse_different
from pytest_fdegym.results.noise import Pair, exchanged, fewest, standard_errors
from pytest_fdegym.results.record import AgentIdentity

SCHEMA_VERSION: Literal[1] = 1
"""Raised when a field of the verdict file changes its meaning or goes away."""
TAIL = 0.0175
"""Error of each end of the interval: below the promised false alarms, so as to keep them where tasks of a scenario are lucky together."""
FALSE_ALARMS = 0.02
"""Promised: an unchanged agent is called a regression at most this often."""
POWER = 0.8
"""How often the detectable drop is detected."""
MARGIN = 0.10
"""The drop that "no regression" excludes, in uplift units."""
LEAST_COVERAGE = 0.5
"""Share of the tasks that has to be compared for a verdict."""
SAME = 1e-9

Outcome = Literal["no_regression", "regression", "inconclusive"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TaskChange(_Model):
    """One task at one level on both sides; never a verdict by itself."""

    task: str
    level: str
    seed: int
    baseline: float = Field(description="Mean of the baseline's graded runs.")
    current: float
    change: float
    baseline_runs: int
    current_runs: int
    new_incidents: tuple[str, ...] = Field(default=(), description="Incidents here in a task that had none in the baseline.")


class Verdict(_Model):
    """What is said of a session, with the figures it rests on. Scores and changes are in uplift units."""

    schema_version: Literal[1] = SCHEMA_VERSION
    harness_version: str
    scoring_version: int
    verdict: Outcome
    text: str = Field(description="The verdict as a sentence.")
    change: float | None = Field(
        None, description="Mean over the compared tasks of current less baseline; null where nothing was compared."
    )
    low: float | None = Field(default=None, description="Lower end of the change's 96.5 % interval; null where these runs give none.")
    high: float | None = None
    detectable_drop: float | None = Field(
        default=None, description="The drop that these runs would show, 8 times in 10; null where none would be."
    )
    margin: float = Field(description="The drop that 'no regression' excludes.")
    compared: int = Field(description="Tasks (at a level) that both sides graded.")
    of: int = Field(description="Tasks (at a level) of both sides together.")
    missing: tuple[str, ...] = Field(default=(), description="Tasks of the baseline that were not run here.")
    void: tuple[str, ...] = Field(default=(), description="Tasks that have void runs only, on either side.")
    new: tuple[str, ...] = Field(default=(), description="Tasks that the baseline does not have.")
    void_runs: int = Field(default=0, description="Void runs on the current side.")
    baseline_agent: AgentIdentity
    current_agent: AgentIdentity
    tasks: tuple[TaskChange, ...] = Field(description="Those with new incidents first, then by change, drops first.")

    @property
    def new_incidents(self) -> tuple[TaskChange, ...]:
        """The tasks with incidents that had none in the baseline."""
        return tuple(each for each in self.tasks if each.new_incidents)


class Comparison(NamedTuple):
    """What the runs say of the mean difference. `margin_of_error` is None where they do not tell how far luck moves it."""

    change: float
    margin_of_error: float | None
    detectable_drop: float | None
    dropped: bool
    """Whether the drop is more than luck: at most one unchanged agent in fifty is told so."""
    same: bool
    """Whether every run of a task scored the same, on both sides."""


def judge(baseline: Baseline, current: Baseline, *, margin: float = MARGIN) -> Verdict:
    """Compare the runs of one agent with a baseline.

    It is a regression if the mean over tasks of the paired differences dropped by more than luck would explain, no regression if that
    interval excludes a drop of `margin`, and inconclusive otherwise, or if fewer than half of the tasks could be compared.
    Raises UsageError where the two sides are not comparable.
    """
    here, there = current.by_key, baseline.by_key
    refuse_different(
        baseline,
        router=current.router,
        scoring_version=current.scoring_version,
        worlds={key: scores.world for key, scores in here.items()},
        gateway=current.gateway,
    )
    either = sorted({*here, *there}, key=lambda key: key.in_order)
    both = [key for key in either if key in here and key in there and here[key].scores and there[key].scores]
    test = compare([Pair(key.scenario, key.task, there[key].scores, here[key].scores) for key in both]) if both else None
    outcome, text = _outcome(test, len(both), len(either), margin)
    error = None if test is None else test.margin_of_error
    return Verdict(
        harness_version=__version__,
        scoring_version=current.scoring_version,
        verdict=outcome,
        text=text,
        change=None if test is None else test.change,
        low=None if test is None or error is None else test.change - error,
        high=None if test is None or error is None else test.change + error,
        detectable_drop=None if test is None else test.detectable_drop,
        margin=margin,
        compared=len(both),
        of=len(either),
        missing=tuple(str(key) for key in either if key not in here),
        void=tuple(str(key) for key in either if any(key in side and not side[key].scores for side in (here, there))),
        new=tuple(str(key) for key in either if key not in there),
        void_runs=sum(len(scores.void) for scores in here.values()),
        baseline_agent=baseline.agent,
        current_agent=current.agent,
        tasks=tuple(sorted((_task_change(key, baseline, current) for key in both), key=lambda each: (not each.new_incidents, each.change))),
    )


def compare(pairs: Sequence[Pair]) -> Comparison:
    """Test the mean difference of at least one pair.

    A drop is more than luck if it exceeds each standard error times Student's quantile, and is as rare among exchanges of runs. Either
    alone keeps the false alarms; the one needs scores that are not too lopsided, the other runs that are independent.
    """
    change = sum(pair.change for pair in pairs) / len(pairs)
    same = all(max(scores) - min(scores) <= SAME for pair in pairs if (scores := [*pair.baseline.values(), *pair.current.values()]))
    errors = standard_errors(pairs)
    if not errors:
        return Comparison(change, None, None, dropped=False, same=same)
    largest = max(errors, key=lambda error: error.times(1 - TAIL))
    margin_of_error = largest.times(1 - TAIL)
    can_tell = fewest(pairs) <= FALSE_ALARMS
    return Comparison(
        change,
        margin_of_error,
        margin_of_error + largest.times(POWER) if can_tell else None,
        dropped=can_tell and change < -margin_of_error - SAME and exchanged(pairs) <= FALSE_ALARMS,
        same=same,
    )


def _outcome(test: Comparison | None, count: int, of: int, margin: float) -> tuple[Outcome, str]:
    if test is None or count < of * LEAST_COVERAGE:
        return "inconclusive", f"inconclusive: {count} of {of} tasks could be compared, and at least half has to be"
    if test.same:
        return "no_regression", "no regression: every task scored as in the baseline"
    error = test.margin_of_error
    said = f"the mean score changed by {test.change:+.3f}"
    if error is not None:
        said += f" (96.5 % interval {test.change - error:+.3f} to {test.change + error:+.3f})"
    if test.dropped:
        return "regression", f"regression: {said}"
    if error is None or test.detectable_drop is None:
        return "inconclusive", f"inconclusive: {said}; so few runs as these would show no drop"
    if test.change < -error - SAME:
        return "inconclusive", f"inconclusive: {said}; runs that change sides show as large a drop too often"
    if test.change - error > -margin:
        return "no_regression", f"no regression: {said}, which excludes a drop of {margin:.2f}"
    return (
        "inconclusive",
        f"inconclusive: {said}; with these runs a drop of {test.detectable_drop:.2f} or more would be seen, 8 times in 10",
    )


def _task_change(key: TaskKey, baseline: Baseline, current: Baseline) -> TaskChange:
    there, here = baseline.tasks[str(key)], current.tasks[str(key)]
    then, now = (sum(each.scores.values()) / len(each.scores) for each in (there, here))
    return TaskChange(
        task=key.task,
        level=key.level,
        seed=key.seed,
        baseline=then,
        current=now,
        change=now - then,
        baseline_runs=len(there.scores),
        current_runs=len(here.scores),
        new_incidents=() if there.incidents else here.incidents,
    )

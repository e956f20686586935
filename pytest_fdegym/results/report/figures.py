"""The rows of the figures, from the records of each agent; every mean is over tasks, of a task's runs first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean

from pytest_fdegym.results.record import Record
from pytest_fdegym.results.report.model import (
    BandShare,
    BelowDoNothing,
    CostPoint,
    Figures,
    KeyFactsPoint,
    LevelPoint,
    ScenarioCell,
)
from pytest_fdegym.results.statistics import Summary, floored_score, interval_over_tasks, task_means, wilson
from pytest_fdegym.scoring.uplift import FLOOR, RESOLVED_AT, TOLERANCE

_EDGES = (0.0, 0.2, 0.4, 0.6, RESOLVED_AT)
BANDS = ("below 0", *(f"{low:g} to {high:g}" for low, high in pairwise(_EDGES)), f"{RESOLVED_AT:g} and more")
"""Of the score S, each with its lower end and without its upper one."""
SHARES = ("none", "under half", "half or more", "all")
"""Of the key facts."""


def band(score: float) -> str:
    """The band of a score; float error is forgiven as it is for `resolved`."""
    return BANDS[sum(score >= edge - TOLERANCE for edge in _EDGES)]


def share_told(record: Record) -> str | None:
    """Which share of its key facts people told the agent; None where the task has none."""
    told, of = record.key_facts_obtained, len(set(record.engaged.key_facts))
    if of == 0:
        return None
    return "all" if told == of else "none" if told == 0 else "under half" if told * 2 < of else "half or more"


def below_do_nothing(record: Record) -> bool:
    """Whether the customer would have been better off without the agent, who scores 0 by doing nothing."""
    return record.scores is not None and record.scores.score < -TOLERANCE


def figures(agents: Mapping[str, Sequence[Record]], summaries: Mapping[str, Summary]) -> Figures:
    """All rows; `summaries` are of the same records."""
    graded = {name: [record for record in its if record.scores is not None] for name, its in agents.items()}
    return Figures(
        score_by_level=tuple(point for name, its in graded.items() for point in _levels(name, its, summaries[name])),
        key_facts_uplift=tuple(point for name, its in graded.items() for point in _key_facts(name, its)),
        cost_score=tuple(point for name in graded for point in _cost(name, summaries[name])),
        score_bands=tuple(each for name, its in graded.items() for each in _bands(name, its)),
        scenario_agent=tuple(cell for name, its in graded.items() for cell in _cells(name, its)),
        below_do_nothing=tuple(each for name, its in graded.items() for each in _below(name, its)),
    )


def _mean(records: Sequence[Record], value: Callable[[Record], float]) -> float:
    return fmean(task_means(records, value).values())


def _tasks(records: Sequence[Record]) -> int:
    return len({(record.task, record.level) for record in records})


def _grouped(records: Sequence[Record], key: Callable[[Record], str | None]) -> dict[str, list[Record]]:
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if (name := key(record)) is not None:
            groups[name].append(record)
    return dict(sorted(groups.items()))


def _levels(agent: str, records: Sequence[Record], whole: Summary) -> list[LevelPoint]:
    levels = _grouped(records, lambda record: record.level)
    points = []
    for level, its in levels.items():
        scores = task_means(its, floored_score)
        interval = whole.by_task if len(levels) == 1 else interval_over_tasks(scores)
        score = fmean(scores.values())
        points.append(LevelPoint(agent=agent, level=level, tasks=len(scores), score=score, low=interval.low, high=interval.high))
    return points


def floored_uplift(record: Record) -> float:
    """A graded record's adjusted uplift as averages count it: at least -1."""
    assert record.scores is not None
    return max(record.scores.uplift_adjusted, FLOOR)


def _told(record: Record) -> float:
    return record.key_facts_obtained / len(set(record.engaged.key_facts))


def _key_facts(agent: str, records: Sequence[Record]) -> list[KeyFactsPoint]:
    groups = _grouped(records, share_told)
    return [
        KeyFactsPoint(agent=agent, share=share, told=_mean(its, _told), runs=len(its), tasks=_tasks(its), uplift=_mean(its, floored_uplift))
        for share in SHARES
        if (its := groups.get(share))
    ]


def _cost(agent: str, summary: Summary) -> list[CostPoint]:
    if summary.mean_score is None or summary.mean_contact_cost is None:
        return []
    low, high = summary.by_task.low, summary.by_task.high
    return [
        CostPoint(agent=agent, usd=summary.mean_usd, contact_cost=summary.mean_contact_cost, score=summary.mean_score, low=low, high=high)
    ]


def _bands(agent: str, records: Sequence[Record]) -> list[BandShare]:
    if not records:
        return []
    bands = {id(record): band(record.scores.score) for record in records if record.scores is not None}
    return [BandShare(agent=agent, band=name, share=_mean(records, lambda record: bands[id(record)] == name)) for name in BANDS]  # noqa: B023  (used at once)


def _cells(agent: str, records: Sequence[Record]) -> list[ScenarioCell]:
    return [
        ScenarioCell(agent=agent, scenario=scenario, tasks=_tasks(its), score=_mean(its, floored_score))
        for scenario, its in _grouped(records, lambda record: record.scenario).items()
    ]


def _below(agent: str, records: Sequence[Record]) -> list[BelowDoNothing]:
    if not records:
        return []
    share, tasks = _mean(records, below_do_nothing), _tasks(records)
    interval = wilson(share, tasks)
    return [BelowDoNothing(agent=agent, share=share, low=interval.low, high=interval.high, tasks=tasks)]

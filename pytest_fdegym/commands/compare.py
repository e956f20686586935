"""Compares the scores of agents task by task: the first with each of the others.

What is named is a baseline file, a results folder, or one agent's folder in it: `fdegym compare main.json .fdegym/results/myagent`.
Beside the gate's verdict stand bootstrap intervals of the mean difference, over tasks and clustered by scenario.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_fdegym.columns import table
from pytest_fdegym.results.baseline import Baseline
from pytest_fdegym.results.scores import read_scores
from pytest_fdegym.results.statistics import Interval, grouped_intervals
from pytest_fdegym.results.verdict import MARGIN, Verdict, judge
from pytest_fdegym.results.verdict_text import verdict_lines
from pytest_fdegym.scoring.uplift import RESOLVED_AT, reaches

from .gate import margin


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("first", type=Path, metavar="A", help="what the others are compared with")
    parser.add_argument("others", nargs="+", type=Path, metavar="B", help="what is compared with it")
    parser.add_argument("--margin", type=margin, default=MARGIN, metavar="X", help="the drop that 'no regression' excludes (default: 0.1)")


def run(options: argparse.Namespace) -> int:
    """Print a table and a verdict for each of the others; returns 0 whatever they are."""
    first = read_scores(options.first)
    others = [(path, read_scores(path)) for path in options.others]
    verdicts = [judge(first, scores, margin=options.margin) for _, scores in others]
    print("\n".join(means([(options.first, first), *others])))
    for (path, scores), verdict in zip(others, verdicts, strict=True):
        lines = verdict_lines(verdict, f"{options.first} ({first.content})", shown=len(verdict.tasks))
        print("\n".join(["", f"{path} ({scores.content})", *lines[:-1], *_bootstrap(verdict), lines[-1]]))
    return 0


def means(sides: list[tuple[Path, Baseline]]) -> list[str]:
    """A row for each side: the mean score over its own tasks, and how many of them it resolved (mean over a task's runs)."""
    rows = []
    for path, scores in sides:
        tasks = [list(each.scores.values()) for each in scores.tasks.values() if each.scores]
        mean = f"{sum(sum(runs) / len(runs) for runs in tasks) / len(tasks):.3f}" if tasks else "-"
        # An incident keeps a score at 0 or below, so a score tells whether it resolves.
        resolved = sum(sum(reaches(score, RESOLVED_AT) for score in runs) / len(runs) for runs in tasks)
        void = sum(len(each.void) for each in scores.tasks.values())
        rows.append(
            (str(path), scores.shown_agent, f"{len(tasks)}/{len(scores.tasks)}", str(scores.runs), str(void), mean, f"{resolved:.1f}")
        )
    return table(("scores", "agent", "tasks", "runs", "void", "mean", "resolved"), rows, left=2)


def _bootstrap(verdict: Verdict) -> list[str]:
    by_task, by_scenario = grouped_intervals({(each.task, f"{each.level} {each.seed}"): each.change for each in verdict.tasks})
    return (
        [f"bootstrap (95 %) of the mean change: over tasks {_shown(by_task)}, over scenarios {_shown(by_scenario)}"]
        if verdict.tasks
        else []
    )


def _shown(interval: Interval) -> str:
    return "none from one" if interval.low is None or interval.high is None else f"{interval.low:+.3f} to {interval.high:+.3f}"

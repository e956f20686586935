"""A verdict for people: coverage, new incidents, the largest changes, and the verdict as the last line."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fdegym.columns import table
from pytest_fdegym.results.baseline import named
from pytest_fdegym.results.verdict import SAME, TaskChange, Verdict

NO_REPEATS = "no task was run more than once on either side: repeats (--fde-runs=3) tell luck from a change, and show smaller drops"
SHOWN = 10
"""Tasks that changed, in the table; the verdict file has all."""


def verdict_lines(verdict: Verdict, baseline: str, *, shown: int = SHOWN) -> list[str]:
    """The lines; `baseline` names what was compared with."""
    changed = [each for each in verdict.tasks if each.new_incidents or abs(each.change) > SAME]
    lines = [f"against {baseline}: {_coverage(verdict)}"]
    for name, tasks in (("not run here", verdict.missing), ("void", verdict.void), ("not in the baseline", verdict.new)):
        lines += [f"{name}: {named(tasks)}"] if tasks else []
    lines += [f"new incident: {each.task} {each.level}: {', '.join(each.new_incidents)}" for each in verdict.new_incidents]
    if changed:
        lines += ["", *change_table(changed[:shown])]
        lines += [f"and {len(changed) - shown} more with smaller changes"] if len(changed) > shown else []
        lines.append("")
    if verdict.verdict == "inconclusive" and verdict.tasks and all(each.baseline_runs == each.current_runs == 1 for each in verdict.tasks):
        lines.append(NO_REPEATS)
    return [*lines, verdict.text]


def change_table(changes: Sequence[TaskChange]) -> list[str]:
    """Tasks with their scores on both sides."""
    seeds = any(each.seed != 1 for each in changes)
    rows = [
        (
            each.task,
            each.level,
            *((str(each.seed),) if seeds else ()),
            f"{each.baseline:.3f}",
            f"{each.current:.3f}",
            f"{each.change:+.3f}",
            f"{each.baseline_runs} + {each.current_runs}",
            f"new incident {', '.join(each.new_incidents)}" if each.new_incidents else "",
        )
        for each in changes
    ]
    return table(("task", "level", *(("seed",) if seeds else ()), "baseline", "now", "change", "runs", ""), rows, left=2)


def _coverage(verdict: Verdict) -> str:
    void = f", void runs {verdict.void_runs}" if verdict.void_runs else ""
    return f"compared {verdict.compared} of {verdict.of} tasks{void}"

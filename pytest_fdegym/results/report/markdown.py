"""A report as Markdown, short enough for a comment on a pull request and for a CI job's summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pytest_fdegym.results.report.model import AgentSummary, Report, TaskRow

LONGEST = 60_000
"""Characters; GitHub takes 65,536 in a comment."""
_MEANINGFUL = re.compile(r"[\\`*_\[\]#|~$]")
_CODES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"}
"""An agent that is called like a team must not call it."""


def markdown(report: Report) -> str:
    """Verdicts, cautions, a row for each agent, and as many tasks as have room: those with incidents first, then the lowest scores."""
    lines = [f"### {escaped(report.title)}", ""]
    for verdict in report.verdicts:
        whose = f"{escaped(verdict.current_agent.name)}: " if len(report.agents) > 1 else ""
        lines += [f"**{whose}{escaped(verdict.text)}**", ""]
        for each in verdict.new_incidents:
            lines.append(f"- new incident: {escaped(each.task)} {each.level}: {escaped(', '.join(each.new_incidents))}")
        lines += [""] if verdict.new_incidents else []
    lines += [line for text in report.cautions for line in (f"> {escaped(text)}", "")]
    lines += _table(_AGENTS, map(_agent, report.agents))
    tasks = sorted(report.tasks, key=lambda task: (not task.incidents, task.score is not None, task.score or 0.0))
    rows = [_line(_task(task)) for task in tasks]
    lines += ["", f"<details><summary>{len(tasks)} tasks, incidents and the lowest scores first</summary>", "", *_table(_TASKS, [])]
    end = ["", "</details>", ""]
    room = LONGEST - sum(len(line) + 1 for line in [*lines, *end]) - 100
    shown = 0
    while shown < len(rows) and (room := room - len(rows[shown]) - 1) >= 0:
        shown += 1
    lines += rows[:shown]
    lines += ["", f"and {len(rows) - shown} more, for which there is no room"] if shown < len(rows) else []
    return "\n".join([*lines, *end])


def escaped(text: str) -> str:
    """A text that says the same in Markdown, on one line, and is neither markup nor a mention."""
    plain = " ".join(_MEANINGFUL.sub(lambda found: "\\" + found[0], text).split())
    return "".join(_CODES.get(letter, letter) for letter in plain if letter.isprintable())


def score(value: float | None) -> str:
    """``0.440``; no minus before zero."""
    if value is None:
        return "–"
    text = f"{value:.3f}"
    return text.removeprefix("-") if float(text) == 0 else text


_AGENTS = ("agent", "mean score", "95 % over tasks", "over scenarios", "resolved", "U", "C", "USD a run", "incidents", "void", "graded")
_TASKS = ("task", "level", "agent", "runs", "S", "U", "C", "resolved", "incidents")


def _agent(agent: AgentSummary) -> Sequence[str]:
    return (
        escaped(agent.agent),
        f"**{score(agent.mean_score)}**",
        _interval(agent.low_by_task, agent.high_by_task),
        _interval(agent.low_by_scenario, agent.high_by_scenario),
        f"{agent.resolved}/{agent.graded}",
        score(agent.mean_uplift),
        score(agent.mean_contact_cost),
        "–" if agent.mean_usd is None else f"{agent.mean_usd:.2f}",
        str(agent.incidents),
        str(agent.void),
        f"{agent.graded} of {agent.planned}",
    )


def _task(task: TaskRow) -> Sequence[str]:
    return (
        escaped(task.task),
        task.level,
        escaped(task.agent),
        str(task.runs) + (f" (void {task.void})" if task.void else ""),
        score(task.score),
        score(task.uplift),
        score(task.contact_cost),
        f"{task.resolved}/{task.runs - task.void}",
        escaped(", ".join(task.incidents)),
    )


def _interval(low: float | None, high: float | None) -> str:
    return "none from one" if low is None or high is None else f"{score(low)} to {score(high)}"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return [_line(header), "|" + "---|" * len(header), *map(_line, rows)]

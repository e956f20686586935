"""The texts of the summary, from records and verdicts: pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from pytest_fdegym.agents.python import STUCK
from pytest_fdegym.columns import table
from pytest_fdegym.pytest_side.score_card import signed
from pytest_fdegym.results.agents import by_agent
from pytest_fdegym.results.record import Record
from pytest_fdegym.results.statistics import Interval, Summary, floored_score, summarise
from pytest_fdegym.runner import NOT_STORED


def result_lines(records: Sequence[Record], planned: int, lost: int = 0) -> list[str]:
    """The table by task and level, then the averages. S is floored as averages demand: max(U_adj, -1) - C. `lost` runs are void, too:
    their processes died, and they have no record.
    """
    agents = by_agent(records)
    several = len(agents) > 1
    rows = []
    for agent, its in agents.items():
        groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
        for record in its:
            groups[record.task, record.level].append(record)
        rows += [(*((agent,) if several else ()), *_row(task, level, groups[task, level])) for task, level in sorted(groups, key=_in_order)]
    header = (*(("agent",) if several else ()), "task", "level", "runs", "S", "U", "C", "resolved", "incidents", "end")
    lines = [*table(header, rows, left=3 if several else 2), ""] if rows else []
    if not several:
        summary = summarise(records, planned)
        return [*lines, *_averages(replace(summary, void=summary.void + lost), "planned"), *_notes(records), *_flagged(records)]
    for agent, its in agents.items():
        lines += [f"agent {agent}", *_averages(summarise(its), "runs"), ""]
    graded = summarise(records).graded
    dead = f", {lost} lost with their processes" if lost else ""
    return [*lines, f"all agents: graded {graded} of {planned} planned{dead}", *_notes(records), *_flagged(records)]


def _notes(records: Sequence[Record]) -> list[str]:
    """What the session as a whole has to know of its runs."""
    notes = Counter(note for record in records for note in record.notes if note.startswith((NOT_STORED, STUCK)))
    return [note if count == 1 else f"{note}, {count} times" for note, count in notes.items()]


def _flagged(records: Sequence[Record]) -> list[str]:
    """Runs in which something looks like an attempt to cheat: how many, what, and where to read on."""
    flagged = [record for record in records if record.audit]
    if not flagged:
        return []
    kinds = Counter(flag.kind for record in flagged for flag in record.audit)
    runs = f"{len(flagged)} run{'s' * (len(flagged) != 1)}"
    said = ", ".join(f"{kind} in {count}" for kind, count in kinds.most_common())
    return [f"audit: {runs} flagged ({said}); scores are as they are, the records say what was seen"]


def left_out_lines(reasons: Sequence[str]) -> list[str]:
    """What the session's budget had no room for."""
    return [f"not run: {count} ({reason})" for reason, count in Counter(reasons).items()]


def not_run_lines(not_run: Mapping[str, str], planned: Sequence[str]) -> list[str]:
    """What is said of tasks that lack a level, as far as their scenarios were planned otherwise (node ids name their folders)."""
    return [text for task, text in not_run.items() if any(f"/{task.partition('.')[0]}/" in f"/{nodeid}" for nodeid in planned)]


def _in_order(group: tuple[str, str]) -> tuple[str, int, str]:
    task, level = group
    scenario, _, variant = task.partition(".")
    return scenario, int(variant.removeprefix("v")), level


def _row(task: str, level: str, records: Sequence[Record]) -> tuple[str, ...]:
    graded = [record for record in records if record.scores is not None]
    scores = [record.scores for record in records if record.scores is not None]
    incidents = sorted({incident.id for record in graded for incident in record.incidents})
    endings = Counter("void" if record.status == "void" else record.end_reason or "unknown" for record in records)
    return (
        task,
        level,
        str(len(records)),
        signed(fmean(map(floored_score, graded))) if graded else "-",
        signed(fmean(each.uplift for each in scores)) if scores else "-",
        signed(fmean(each.contact_cost for each in scores)) if scores else "-",
        f"{sum(each.resolved for each in scores)}/{len(scores)}",
        ",".join(incidents) or "-",
        ", ".join(reason if count == len(records) else f"{reason} {count}" for reason, count in sorted(endings.items())),
    )


def _averages(summary: Summary, of: str) -> list[str]:
    lines = []
    if summary.mean_score is not None and summary.mean_uplift is not None and summary.mean_contact_cost is not None:
        lines.append(
            f"mean score {signed(summary.mean_score)} "
            f"(95 % interval over tasks: {_interval(summary.by_task)}, over scenarios: {_interval(summary.by_scenario)})"
        )
        cost = "unknown" if summary.mean_usd is None else f"{_dollars(summary.mean_usd)} USD"
        if summary.mean_usd is not None and summary.usd_known < summary.graded:
            cost += f" (known for {summary.usd_known} of {summary.graded} runs)"
        lines.append(
            f"mean uplift {signed(summary.mean_uplift)}, mean contact cost {signed(summary.mean_contact_cost)}, mean model cost {cost}"
        )
    lines.append(
        f"resolved {summary.resolved}/{summary.graded}, with incidents {summary.incidents}, void {summary.void}, "
        f"graded {summary.graded} of {summary.planned} {of}"
    )
    return lines


def _dollars(usd: float) -> str:
    """Cents, or two digits of less than one: what has a price is never shown as 0.00."""
    return f"{usd:.2f}" if usd == 0 or usd >= 0.01 else f"{usd:.2g}"


def _interval(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return "none from one"
    return f"{signed(interval.low)} to {signed(interval.high)}"


def admission_lines(verdicts: Sequence[Mapping[str, Any]], planned: int) -> list[str]:
    """What each check found (``report.fde`` of its item), and how many held."""
    rows = [_admission_row(verdict) for verdict in verdicts]
    held = sum(bool(verdict["verdict"] and verdict["verdict"]["passed"]) for verdict in verdicts)
    header = ("scenario", "variant", "check", "seeds", "KPI", "U_adj min", "max", "S min", "worth", "")
    return [*([*table(header, rows, left=3), ""] if rows else []), *_all_said(verdicts), f"{held} of {planned} anchors hold"]


def _all_said(verdicts: Sequence[Mapping[str, Any]]) -> list[str]:
    """The warnings of every check in full, since a row holds the first one only; problems are shown where the item failed."""
    lines = [
        f"warning: {each['scenario']}.{each['variant']} {each['check']}: {text}"
        for each in verdicts
        if each["verdict"]
        for text in each["verdict"]["warnings"]
    ]
    return [*lines, ""] if lines else []


def _admission_row(data: Mapping[str, Any]) -> tuple[str, ...]:
    place = (data["scenario"], data["variant"], data["check"])
    verdict = data["verdict"]
    if verdict is None:
        return (*place, "-", "-", "-", "-", "-", "-", "error")
    found = verdict["measurements"]
    adjusted = [each["uplift_adjusted"] for each in found]
    said = verdict["problems"] or verdict["warnings"]
    more = f" (and {len(said) - 1} more)" if len(said) > 1 else ""
    return (
        *place,
        str(len({each["seed"] for each in found})) if found else "-",
        f"{fmean(each['kpi'] for each in found):.4g}" if found else "-",
        signed(min(adjusted)) if found else "-",
        signed(max(adjusted)) if found else "-",
        signed(min(each["score"] for each in found)) if found else "-",
        "-" if verdict["worth"] is None else signed(verdict["worth"]),
        f"{'FAILED' if not verdict['passed'] else 'warning'}: {said[0]}{more}" if said else "ok",
    )

"""The score card: what a developer of an agent reads when the gate stopped a run."""

from __future__ import annotations

import textwrap
from pathlib import Path

from pytest_fdegym.agents.python import STUCK
from pytest_fdegym.engage import UNANSWERED
from pytest_fdegym.results.gate import Gate
from pytest_fdegym.results.record import EndReason, Record
from pytest_fdegym.results.store import Store
from pytest_fdegym.runner import NOT_STORED
from pytest_fdegym.scenario.model import Kpi

LONGEST_CRASH = 120
"""Characters of an agent's exception in a card's first line."""
_OF_THE_END = (STUCK, UNANSWERED)
"""How notes begin that say how the engagement ended."""
_TRACEBACK = "Traceback (most recent call last):"
_ENDINGS: dict[EndReason, str] = {
    "handover": "the agent handed over",
    "agent_error": "the agent raised an exception; what it left was graded",
    "agent_exit": "the agent exited; what it left was graded",
    "limit_turns": "the limit of turns was reached; what the agent left was graded",
    "limit_minutes": "the time limit was reached; what the agent left was graded",
    "limit_usd": "the cost limit was reached; what the agent left was graded",
    "interrupted": "the run was interrupted",
}


def number(value: float) -> str:
    """A KPI for people: four significant digits below 1,000, whole above."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def signed(value: float) -> str:
    """A score for people: ``0.440``, ``-3.100``; no minus before zero."""
    text = f"{value:.3f}"
    return text.removeprefix("-") if float(text) == 0 else text


def score_card(record: Record, kpi: Kpi, gate: Gate, store: Store | None) -> str:
    """The card of a graded run; pytest repeats its first line in the short summary.

    It does not name the facts that were missed, nor what a contact costs.
    """
    scores, engaged = record.scores, record.engaged
    assert scores is not None
    asked = "none" if gate.threshold is None else f"{gate.threshold:g}"
    if gate.text == "resolved":
        asked += " without incident"
    lines = [
        f"{_crash(record)}score {signed(scores.score)}, asked for {asked} ({record.task} at {record.level})",
        f"{record.task} at {record.level}, run {record.run}, seed {record.seed}, agent {record.agent.name}",
        "",
        _line(kpi.name, ""),
        _line("  as found", f"{number(scores.kpi_baseline)} {kpi.unit}"),
        _line("  delivered", f"{number(scores.kpi)} {kpi.unit}"),
        _line("  reference", f"{number(scores.kpi_reference)} {kpi.unit}"),
        _line("uplift U", _uplift(record)),
        _line("contact cost C", signed(scores.contact_cost)),
        _line("score S = U - C", signed(scores.score)),
    ]
    lines += ["", "incidents" if record.incidents else _line("incidents", "none")]
    for incident in record.incidents:
        lines += textwrap.wrap(
            f"{incident.text} ({incident.id}, {incident.count} times)" if incident.count > 1 else f"{incident.text} ({incident.id})",
            100,
            initial_indent="  - ",
            subsequent_indent="    ",
        )
    lines += [
        _line(
            "contacts",
            f"{_counted(engaged.messages, 'message')}, {_counted(engaged.trials, 'trial')}, {_counted(engaged.days_waited, 'day')} waited",
        ),
        _line("key facts", f"{record.key_facts_obtained} of {len(engaged.key_facts)} obtained"),
        _line("end", _ENDINGS[record.end_reason] if record.end_reason else "unknown"),
    ]
    for note in (each for each in record.notes if each.startswith(_OF_THE_END)):
        lines += textwrap.wrap(note, 100, initial_indent="  - ", subsequent_indent="    ")
    if notes := [note for note in record.notes if not note.startswith((NOT_STORED, *_OF_THE_END))]:
        lines += ["", "the delivery in production"]
        lines += [line for note in notes for line in textwrap.wrap(note, 100, initial_indent="  - ", subsequent_indent="    ")]
    if record.audit:
        lines += ["", "audit (changes no score)"]
        for flag in record.audit:
            text = f"{flag.text} ({flag.count} times): {flag.examples[0]}" if flag.count > 1 else f"{flag.text}: {flag.examples[0]}"
            lines += textwrap.wrap(text, 100, initial_indent="  - ", subsequent_indent="    ")
    if record.agent_error:
        lines += ["", "the agent's error", textwrap.indent(record.agent_error, "  ")]
    if unstored := [note for note in record.notes if note.startswith(NOT_STORED)]:
        lines += ["", *unstored]
    elif store is not None:
        paths = store.paths(record)
        lines += ["", _line("record", _shown(paths.record)), _line("events", _shown(paths.events)), _line("patch", _shown(paths.patch))]
    return "\n".join(line.rstrip() for line in lines)


def _crash(record: Record) -> str:
    """What stopped the agent, in a line: of a traceback the exception, else the first line."""
    if record.agent_error is None or record.end_reason not in ("agent_error", "agent_exit"):
        return ""
    lines = record.agent_error.strip().splitlines() or [""]
    start = max((number for number, line in enumerate(lines) if line == _TRACEBACK), default=None)
    if start is not None:
        lines = [line for line in lines[start + 1 :] if line[:1] not in (" ", "")] or lines[-1:]
    return f"{textwrap.shorten(lines[0], LONGEST_CRASH, placeholder='...')}; "


def _uplift(record: Record) -> str:
    assert record.scores is not None
    uplift, adjusted = record.scores.uplift, record.scores.uplift_adjusted
    return signed(uplift) if uplift == adjusted else f"{signed(uplift)}, counted as {signed(adjusted)} because of incidents"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _line(label: str, text: str) -> str:
    return f"{label:<16} {text}"


def _shown(path: Path) -> str:
    """Relative to the working directory where it lies below."""
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)

"""Stores with runs, logs and patches, and what a page says of them."""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pytest_fdegym.results.record import AgentIdentity, Engaged, KpiName, Record
from pytest_fdegym.results.report.build import make_report
from pytest_fdegym.results.report.packed import unpacked
from pytest_fdegym.results.report.reading import Run, runs_in
from pytest_fdegym.results.report.write import html
from tests.support.records import graded, void

MADE = datetime(2026, 5, 4, 12, tzinfo=UTC)
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">'\"`&amp;\u2028\u2029\u202e|\x07"
"""What a page, a table and an XML file must show as it is, or as a visible escape."""


def several_agents() -> list[Record]:
    """Two agents on three tasks of two scenarios at two levels, with repeats, an incident and a void run."""
    first, second = AgentIdentity(name="first"), AgentIdentity(name="second", version="2")
    worth = {"F_A": 0.26, "F_B": 1.0}
    told = Engaged(messages=2, facts=("F_A", "F_B"), key_facts=("F_A", "F_B"), worth=worth)
    half = Engaged(messages=1, facts=("F_A",), key_facts=("F_A", "F_B"), worth={"F_A": 0.26})
    none = Engaged(key_facts=("F_A", "F_B"), worth=worth)
    hours = KpiName(name="net credited hours", unit="h")
    return [
        graded("oil_npt.v1", uplift=1.0, cost=0.1, agent=first, run=1, engaged=told, usd=2.0, kpi=hours),
        graded("oil_npt.v1", uplift=0.5, cost=0.0, agent=first, run=2, engaged=half, usd=1.0),
        graded("oil_npt.v2", uplift=-3.0, cost=0.1, agent=first, engaged=none),
        graded("oil_npt.v1", uplift=0.9, cost=0.05, agent=first, level="L0", engaged=told),
        graded("tolls.v1", uplift=0.9, cost=0.05, incident=True, agent=first, engaged=told, sector="Transport"),
        void("tolls.v2", agent=first, sector="Transport"),
        graded("oil_npt.v1", uplift=0.2, agent=second, engaged=half, usd=0.5),
        graded("tolls.v1", uplift=0.9, cost=0.1, agent=second, engaged=told, sector="Transport"),
    ]


def store(folder: Path, records: list[Record], events: list[dict[str, Any]] | None = None, patch: str | None = None) -> Path:
    """A results folder with the records, each with the same log and patch."""
    for record in records:
        stem = folder / record.agent.name / f"{record.task}.{record.level}.run{record.run}"
        stem.parent.mkdir(parents=True, exist_ok=True)
        Path(f"{stem}.json").write_text(record.model_dump_json())
        if events is not None:
            lines = [json.dumps({"time": "2026-05-04T10:00:00+00:00", "at": None, **event}) for event in events]
            Path(f"{stem}.events.jsonl").write_text("".join(f"{line}\n" for line in lines))
        if patch is not None:
            Path(f"{stem}.patch").write_text(patch)
    return folder


def message(sent: str, reply: str, *, charge: float = 0.02, facts: tuple[str, ...] = ()) -> dict[str, Any]:
    """The event of an answered message."""
    entry = {"kind": "message", "person": "okafor", "sent": sent, "reply": reply, "reply_kind": "answer", "charge": charge, "facts": facts}
    return {
        "kind": "message",
        "time": "2026-05-04T10:06:00+00:00",
        "at": "2025-03-04T14:00:00",
        "entry": {**entry, "signoffs": [], "days": 0},
    }


def page_of(folder: Path) -> str:
    """The page on a store."""
    runs = runs_in([folder])
    return html(make_report([run.record for run in runs], made_at=MADE), runs)


def numbers_of(page: str) -> dict[str, Any]:
    """The figures in a page, runs and tasks as objects."""
    (text,) = re.findall(r'<script type="application/json" id="report">(.*?)</script>', page, re.DOTALL)
    numbers: dict[str, Any] = json.loads(text)
    for name in ("runs", "tasks"):
        numbers[name] = [dict(zip(numbers[name]["columns"], row, strict=True)) for row in numbers[name]["rows"]]
    return numbers


def details_of(page: str) -> list[dict[str, Any]]:
    """The details of all runs in a page, in its order."""
    found: list[dict[str, Any]] = []
    for first, count, data in re.findall(r'class="piece" data-first="(\d+)" data-count="(\d+)">([^<]*)</script>', page):
        assert int(first) == len(found)
        piece = json.loads(unpacked(data))
        assert len(piece) == int(count)
        found += piece
    return found


def run_at(folder: Path, record: Record) -> Run:
    """A run whose files are (not) in a folder."""
    return Run(record, folder / "run.events.jsonl", folder / "run.patch")


def without_plotly(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the extra were not installed."""
    for name in [name for name in sys.modules if name.split(".")[0] == "plotly"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "plotly", None)

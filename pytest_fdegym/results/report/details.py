"""What a page shows of one run when it is opened: bounded, so that a page of thousands of runs can still be opened."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, Field, SkipValidation

from pytest_fdegym.results.record import Flag, IncidentRecord, Record
from pytest_fdegym.results.report.reading import Run
from pytest_fdegym.results.report.timeline import Moment, moments
from pytest_fdegym.text import kept

BUDGET = 80_000_000
"""Characters that the details of all runs of a page may have before they are compressed."""
LEAST, MOST = 6_000, 200_000
"""Characters that one run may have, at least and at most."""
LONGEST_READ = 4 << 20
"""Characters of a patch that are read."""
_MOMENT = 90
"""Characters that a moment takes beside its texts, about."""
_LONGEST_TEXTS = (4000, 1000, 300)
"""To which texts are cut, in turn, until the moments have room."""


class Fact(BaseModel):
    """A fact, and whether people told it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    key: bool
    obtained: bool
    worth: float | None = Field(
        default=None, description="What the fact is worth, as admission's ablations measure it; null where the record does not know it."
    )


class Details(BaseModel):
    """One run in detail. All texts are of agents and customers: hostile, to be shown as text only."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    void_cause: str | None
    agent_error: str | None
    notes: tuple[str, ...]
    incidents: tuple[IncidentRecord, ...]
    audit: tuple[Flag, ...]
    facts: tuple[Fact, ...]
    signoffs: tuple[str, ...]
    figures: dict[str, str] = Field(description="The scenario's own.")
    timeline: SkipValidation[list[dict[str, Any]] | None] = Field(description="Moments; null where there is no event log.")
    left_out: int = Field(description="Moments of the log that have no room here.")
    patch: str | None = Field(description="Null where there is none.")


def share_of(runs: int) -> int:
    """How many characters each of so many runs may have."""
    return max(LEAST, min(MOST, BUDGET // max(runs, 1)))


def details(run: Run, share: int) -> Details:
    """The details of a run in about `share` characters, a third of them for the patch."""
    record = run.record
    text = max(300, share // 20)
    timeline, heard = moments(run.events)
    bounded, left_out = _bounded(timeline, share * 2 // 3)
    return Details(
        void_cause=_kept(record.void_cause, text),
        agent_error=_kept(record.agent_error, text * 2),
        notes=tuple(kept(note, text) for note in record.notes[:40]),
        incidents=record.incidents[:40],
        audit=record.audit[:40],
        facts=_facts(record),
        signoffs=record.engaged.signoffs,
        figures={kept(key, 100): kept(_shown(value), 300) for key, value in list(record.details.items())[:60]},
        timeline=cast("list[dict[str, Any]]", bounded) if heard else None,
        left_out=left_out,
        patch=_patch(run, share // 3),
    )


def _kept(text: str | None, longest: int) -> str | None:
    return None if text is None else kept(text, longest)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _facts(record: Record) -> tuple[Fact, ...]:
    """Key facts first, in the order of the scenario; then the others that were told."""
    told, keys = set(record.engaged.facts), tuple(dict.fromkeys(record.engaged.key_facts))
    others = sorted(told - set(keys))
    return (
        *(Fact(id=fact, key=True, obtained=fact in told, worth=record.engaged.worth.get(fact)) for fact in keys),
        *(Fact(id=fact, key=False, obtained=True) for fact in others),
    )


def _patch(run: Run, longest: int) -> str | None:
    try:
        with run.patch.open(encoding="utf-8", errors="replace", newline="") as file:
            return kept(file.read(LONGEST_READ), longest)
    except OSError:
        return None


def _bounded(timeline: Sequence[Moment], room: int) -> tuple[list[Moment], int]:
    """The moments in `room` characters: long texts are cut first, then moments in the middle are left out."""
    texts = [len(text) for moment in timeline for text in (moment.get("text"), moment.get("reply")) if text]
    frame = _MOMENT * len(timeline)
    for longest in _LONGEST_TEXTS:
        if frame + sum([length if length < longest else longest for length in texts]) <= room:
            return [_cut(moment, longest) for moment in timeline], 0
    half = room // 2
    first, last, spent = 0, len(timeline), 0
    while first < last and (spent := spent + _size(timeline[first])) <= half:
        first += 1
    spent = 0
    while last > first and (spent := spent + _size(timeline[last - 1])) <= half:
        last -= 1
    return [_cut(moment, _LONGEST_TEXTS[-1]) for moment in (*timeline[:first], *timeline[last:])], last - first


def _size(moment: Moment) -> int:
    longest = _LONGEST_TEXTS[-1]
    return _MOMENT + min(len(moment.get("text", "")), longest) + min(len(moment.get("reply", "")), longest)


def _cut(moment: Moment, longest: int) -> Moment:
    texts: Moment = {"kind": moment["kind"]}
    if len(text := moment.get("text", "")) > longest:
        texts["text"] = kept(text, longest)
    if len(reply := moment.get("reply", "")) > longest:
        texts["reply"] = kept(reply, longest)
    return {**moment, **texts} if len(texts) > 1 else moment

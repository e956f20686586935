"""Eighteen months of tour sheets, contested claims and credit notes, as the customer hands them over."""

from __future__ import annotations

import random
import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from .field import (
    EVALUATION_START,
    HISTORY_MONTHS,
    HISTORY_START,
    RIGS,
    Event,
    Field,
    daily_rows,
    draw_month,
    later,
    well_row,
)
from .terms import Terms, above_allowance, in_force, in_the_past

WRONG_BY_H = 0.05
"""A line is wrong if it claims more than this beyond what may be claimed."""
NOTICED_SHARE = 0.40
"""Events of which somebody gives the contractor timely notice unasked; only where a credit needs it."""

SCHEMA = """
CREATE TABLE assets (asset_id TEXT PRIMARY KEY, description TEXT NOT NULL, owner TEXT NOT NULL);
CREATE TABLE wells (well_id TEXT PRIMARY KEY, rig_id TEXT NOT NULL, spud_ts TEXT NOT NULL, release_ts TEXT);
CREATE TABLE events (
    event_id TEXT PRIMARY KEY, rig_id TEXT NOT NULL, well_id TEXT NOT NULL REFERENCES wells, start_ts TEXT NOT NULL, hours REAL NOT NULL,
    iadc_code INTEGER NOT NULL, asset_id TEXT REFERENCES assets, remark TEXT NOT NULL, pusher_signed INTEGER NOT NULL
);
CREATE INDEX events_by_rig ON events (rig_id, start_ts);
CREATE TABLE drilling_daily (
    rig_id TEXT NOT NULL, day TEXT NOT NULL, well_id TEXT NOT NULL, start_depth_ft INTEGER NOT NULL, end_depth_ft INTEGER NOT NULL,
    PRIMARY KEY (rig_id, day)
);
CREATE TABLE claim_history (
    event_id TEXT PRIMARY KEY REFERENCES events, month TEXT NOT NULL, claimed_hours REAL NOT NULL, response TEXT NOT NULL,
    response_reason TEXT NOT NULL
);
CREATE TABLE credit_notes (
    rig_id TEXT NOT NULL, month TEXT NOT NULL, status TEXT NOT NULL, hours REAL NOT NULL, PRIMARY KEY (rig_id, month)
);
"""


@dataclass(frozen=True)
class Claim:
    """What was claimed for a rig-month under the coder as found, and what came of it."""

    rig: str
    month: str
    lines: Mapping[str, float]
    wrong: frozenset[str] = frozenset()
    unnoticed: frozenset[str] = frozenset()
    """Lines that came back for want of timely notice."""

    @property
    def hours(self) -> float:
        return sum(self.lines.values())

    @property
    def status(self) -> str:
        if self.month == _last_history_month():
            return "SENT"
        if not self.lines:
            return "NO CLAIM"
        return "SUSPENDED" if self.wrong else "RETURNED" if self.unnoticed.issuperset(self.lines) else "CREDITED"

    @property
    def posted_hours(self) -> float:
        """Hours as Accounts Payable posts them: as claimed, less the lines that came back."""
        if self.status == "SENT":
            return self.hours
        return sum(hours for id_, hours in self.lines.items() if id_ not in self.unnoticed)


def write_history(site: Path, field: Field, params: Mapping[str, Any], rng: random.Random) -> Mapping[str, Any]:
    """Write data/npt.db and the credit log; returns what people and their gates may name."""
    months = [later(HISTORY_START, n) for n in range(HISTORY_MONTHS)]
    past = in_the_past(params)
    events = [event for first in months for rig in RIGS for event in draw_month(rig, first, field, past.theirs, rng)]
    rebuilt = params["rebuilt"]
    claims = _right_claims(events, past, params["hold_cap"], rng) if rebuilt else _past_claims(events, past)
    path = site / "data" / "npt.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    try:
        with connection:
            connection.executescript(SCHEMA)
            _insert_field(connection, field)
            _insert_history(connection, events, claims)
    finally:
        connection.close()
    log = site / "docs" / "finance" / "credit_log.md"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(_returns_log(claims) if rebuilt else _credit_log(claims), encoding="utf-8")
    return _planted(events, claims, in_force(params), in_the_past(params))


def _last_history_month() -> str:
    return f"{later(HISTORY_START, HISTORY_MONTHS - 1):%Y-%m}"


def _past_claims(events: Sequence[Event], terms: Terms) -> list[Claim]:
    """Claims of the keyword coder."""
    sent = above_allowance(events, lambda event: event.as_found == "CONTRACTOR", terms)
    right = above_allowance(events, lambda event: event.signed and event.theirs, terms)
    claims = []
    for (month, rig), group in _by_rig_month(events):
        lines = {event.id: sent[event.id] for event in group if sent.get(event.id, 0) > 0}
        wrong = frozenset(id_ for id_, hours in lines.items() if hours > right.get(id_, 0.0) + WRONG_BY_H)
        claims.append(Claim(rig, month, lines, wrong))
    return claims


def _right_claims(events: Sequence[Event], terms: Terms, hold_cap: int, rng: random.Random) -> list[Claim]:
    """Claims of a coder that is right, with the cost engineer's verdicts; a line comes back unless its event was noticed."""
    settled = {
        event.id
        for _, group in _by_rig_month(events)
        for event in [each for each in group if each.signed and each.kind == "open_cause"][:hold_cap]
    }
    sent = above_allowance(
        events, lambda event: event.signed and event.theirs and (event.kind != "open_cause" or event.id in settled), terms
    )
    claims = []
    for (month, rig), group in _by_rig_month(events):
        lines = {event.id: sent[event.id] for event in group if sent.get(event.id, 0) > 0}
        unnoticed = frozenset(id_ for id_ in lines if rng.random() >= NOTICED_SHARE)
        claims.append(Claim(rig, month, lines, unnoticed=unnoticed))
    return claims


def _by_rig_month(events: Sequence[Event]) -> list[tuple[tuple[str, str], list[Event]]]:
    groups: dict[tuple[str, str], list[Event]] = defaultdict(list)
    for event in events:
        groups[event.month, event.rig].append(event)
    return sorted(groups.items())


def _insert_field(connection: sqlite3.Connection, field: Field) -> None:
    assets = sorted((asset.id, asset.item.description, asset.item.owner) for assets in field.assets.values() for asset in assets)
    connection.executemany("INSERT INTO assets VALUES (?, ?, ?)", assets)
    handed_over = f"{EVALUATION_START:%Y-%m-%d %H:%M}"
    for rig in RIGS:
        for row in map(well_row, field.wells[rig]):
            if row["spud_ts"] < handed_over:
                released = row["release_ts"] if row["release_ts"] < handed_over else None
                connection.execute("INSERT INTO wells VALUES (?, ?, ?, ?)", (row["well_id"], rig, row["spud_ts"], released))
    days = (EVALUATION_START - HISTORY_START).days
    for day in (HISTORY_START + timedelta(days=n) for n in range(days)):
        for row in daily_rows(field, day):
            connection.execute("INSERT INTO drilling_daily VALUES (:rig_id, :day, :well_id, :start_depth_ft, :end_depth_ft)", row)


def _insert_history(connection: sqlite3.Connection, events: Sequence[Event], claims: Sequence[Claim]) -> None:
    signed = {event.id: event.signed for event in events}
    for event in sorted(events, key=lambda each: each.start):
        connection.execute(
            "INSERT INTO events VALUES (:event_id, :rig_id, :well_id, :start_ts, :hours, :iadc_code, :asset_id, :remark, :pusher_signed)",
            event.row(),
        )
    for claim in claims:
        connection.execute("INSERT INTO credit_notes VALUES (?, ?, ?, ?)", (claim.rig, claim.month, claim.status, claim.posted_hours))
        for id_, hours in claim.lines.items():
            response, reason = claim.status, ""
            if claim.status == "SUSPENDED":
                # a refusal of substance is booked on the whole rig-month and names no line
                formal = not signed[id_]
                response, reason = ("REFUSED", "tour sheet not signed, Art. 9.4") if formal else ("SUSPENDED", "contested, Art. 9")
            elif claim.status != "SENT" and id_ in claim.unnoticed:
                response, reason = "RETURNED", "no timely notice, Art. 9.5"
            connection.execute("INSERT INTO claim_history VALUES (?, ?, ?, ?, ?)", (id_, claim.month, hours, response, reason))


def _credit_log(claims: Sequence[Claim]) -> str:
    lines = [
        "# Ironbark downtime credits: log by claim month",
        "",
        "Kept by Accounts Payable. Hours as claimed; a credit note is posted per rig and month.",
        "",
        "| claim month | rigs claimed | hours claimed | credited (rigs) | credited (h) | suspended (rigs) | suspended (h) | open (h) |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for month in sorted({claim.month for claim in claims}):
        of = {
            status: [claim for claim in claims if claim.month == month and claim.status == status]
            for status in ("CREDITED", "SUSPENDED", "SENT")
        }
        hours = {status: sum(claim.hours for claim in group) for status, group in of.items()}
        lines.append(
            f"| {month} | {sum(map(len, of.values()))} | {sum(hours.values()):,.2f} | {len(of['CREDITED'])} | {hours['CREDITED']:,.2f} "
            f"| {len(of['SUSPENDED'])} | {hours['SUSPENDED']:,.2f} | {hours['SENT']:,.2f} |"
        )
    lines += ["", f"{_last_history_month()}: sent, no answer from Ironbark yet.", ""]
    return "\n".join(lines)


def _returns_log(claims: Sequence[Claim]) -> str:
    lines = [
        "# Ironbark downtime credits: log by claim month",
        "",
        "Kept by Accounts Payable. A credit note is posted per rig and month for the lines that are not returned.",
        "",
        "| claim month | rigs claimed | hours claimed | lines claimed | lines returned | credited (h) | open (h) |",
        "|---|---|---|---|---|---|---|",
    ]
    for month in sorted({claim.month for claim in claims}):
        group = [claim for claim in claims if claim.month == month and claim.lines]
        answered = [claim for claim in group if claim.status != "SENT"]
        returned, credited = sum(len(claim.unnoticed) for claim in answered), sum(claim.posted_hours for claim in answered)
        waiting = sum(claim.hours for claim in group if claim.status == "SENT")
        lines.append(
            f"| {month} | {len(group)} | {sum(claim.hours for claim in group):,.2f} | {sum(len(claim.lines) for claim in group)} "
            f"| {returned} | {credited:,.2f} | {waiting:,.2f} |"
        )
    lines += ["", f"{_last_history_month()}: sent, no answer from Ironbark yet.", ""]
    return "\n".join(lines)


WINDOWS: Mapping[str, tuple[str, str]] = {
    "all": ("2023-09", "2025-01"),
    "2024": ("2024-01", "2024-12"),
    "last_12": ("2024-02", "2025-01"),
    "q4": ("2024-10", "2024-12"),
    "last_3": ("2024-11", "2025-01"),
}
"""First and last claim month; February 2025 has no answer yet."""


def _planted(events: Sequence[Event], claims: Sequence[Claim], terms: Terms, past: Terms) -> dict[str, Any]:
    """Figures that somebody who read the history would cite, over several windows. `terms` are those that new rules have to follow, `past`
    those of the history, whose allowance a careful back-test uses."""
    by_id = {event.id: event for event in events}
    public: dict[str, Any] = {}
    for name, (first, last) in WINDOWS.items():
        answered = [claim for claim in claims if first <= claim.month <= last and claim.lines]
        suspended = [claim for claim in answered if claim.status == "SUSPENDED"]
        lines = [by_id[id_] for claim in answered for id_ in claim.lines]
        public |= {
            f"claims_{name}": len(answered),
            f"suspended_{name}": len(suspended),
            f"suspended_hours_{name}": round(sum(claim.hours for claim in suspended)),
            f"withdrawn_{name}": sum(not _stays(event, terms) for event in lines),
            f"withdrawn_coded_{name}": sum(event.kind not in terms.theirs for event in lines),
            f"unclaimed_{name}": _unclaimed(lines, events, terms, past),
            f"unclaimed_by_new_{name}": _unclaimed(lines, events, terms, terms),
        }
    all_suspended = [claim for claim in claims if claim.status == "SUSPENDED"]
    public |= {
        "suspended_lines": sum(len(claim.lines) for claim in all_suspended),
        "suspended_percent": round(100 * public["suspended_all"] / public["claims_all"]),
        "suspended_rigs": tuple(sorted({claim.rig for claim in all_suspended})),
    }
    open_now = [claim for claim in claims if claim.status == "SENT" and (claim.wrong or claim.unnoticed)]
    notice = next((claim for claim in open_now if claim.rig == "IB-104"), open_now[0])
    return public | {
        "notice_rig": notice.rig,
        "notice_hours": f"{notice.hours:.2f}",
        "notice_lines": len(notice.lines),
        "returned_lines": len(notice.unnoticed),
    }


def _unclaimed(lines: Sequence[Event], events: Sequence[Event], rules: Terms, allowance: Terms) -> int:
    """How many of `lines` a claim by `rules` would not have, those within the allowance included."""
    above = above_allowance(events, lambda event: _stays(event, rules), allowance)
    return sum(not above.get(event.id) for event in lines)


def _stays(event: Event, terms: Terms) -> bool:
    """Whether a claimed line is still claimed without review under the rules in force."""
    return event.signed and event.kind in terms.theirs

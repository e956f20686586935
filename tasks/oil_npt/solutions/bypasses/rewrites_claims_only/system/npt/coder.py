"""Downtime coder, rule set KW-7.

Called every night for each downtime event of the tour sheets. Decides which party bears the event from the equipment that the
remark names.

History
  2022-05  KW-5  first version (C. Weems)
  2022-12  KW-6  service keywords; remarks are cleaned up before matching
  2023-02        reasons say which keyword matched
  2023-06  KW-7  swivel and generator added after the review of IB-108
  2024-01        coding statistics for the monthly meeting
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable
from typing import Any

RULE_SET = "KW-7"

CONTRACTOR = "CONTRACTOR"
SERVICE = "SERVICE"
NONE = "NONE"
HOLD = "HOLD"
PARTIES = (CONTRACTOR, SERVICE, NONE, HOLD)

# Order matters: the first hit wins. The contractor's equipment comes first because most downtime is on the rig.
KEYWORDS: tuple[tuple[str, str], ...] = (
    ("pump", CONTRACTOR),
    ("top drive", CONTRACTOR),
    ("drawworks", CONTRACTOR),
    ("bop", CONTRACTOR),
    ("swivel", CONTRACTOR),
    ("gen", CONTRACTOR),
    ("rig", CONTRACTOR),
    ("mwd", SERVICE),
    ("cmt", SERVICE),
    ("casing crew", SERVICE),
)

# Spellings that toolpushers use, brought into the form that the keywords have.
SPELLINGS: tuple[tuple[str, str], ...] = (
    (r"\btopdrive\b", "top drive"),
    (r"\bdraw[ -]works\b", "drawworks"),
    (r"\bb\.o\.p\.?", "bop"),
    (r"\bpmp\b", "pump"),
    (r"\bcsg crew\b", "casing crew"),
    (r"\bm\.w\.d\.?", "mwd"),
)

# Shown in reasons and in the statistics.
LABELS: dict[str, str] = {
    "pump": "mud pump",
    "top drive": "top drive",
    "drawworks": "drawworks",
    "bop": "blowout preventer",
    "swivel": "swivel",
    "gen": "generator",
    "rig": "rig, unspecified",
    "mwd": "MWD",
    "cmt": "cementing",
    "casing crew": "casing crew",
}

REQUIRED = ("event_id", "rig_id", "start_ts", "hours", "remark")


class BadEvent(ValueError):
    """The tour-sheet load sent something that is no event."""


def code_event(ev: dict[str, Any], conn: sqlite3.Connection) -> dict[str, str]:
    """Code one event: who bears it, and why we think so."""
    check_event(ev)
    keyword, party = classify(ev["remark"])
    return {"event_id": ev["event_id"], "party": party, "reason": explain(keyword, party)}


def check_event(ev: dict[str, Any]) -> None:
    """Refuse an event that lacks what the claim needs later."""
    missing = [name for name in REQUIRED if ev.get(name) in (None, "")]
    if missing:
        raise BadEvent(f"event {ev.get('event_id', '?')}: no {', '.join(missing)}")
    if ev["hours"] <= 0:
        raise BadEvent(f"event {ev['event_id']}: {ev['hours']} hours")


def classify(remark: str) -> tuple[str | None, str]:
    """The keyword that the remark names first in our list, and its party."""
    text = clean(remark)
    for keyword, party in KEYWORDS:
        if keyword in text:
            return keyword, party
    return None, NONE


def clean(remark: str) -> str:
    """Lower case, one blank between words, known spellings made alike."""
    text = re.sub(r"\s+", " ", remark.lower()).strip()
    for pattern, replacement in SPELLINGS:
        text = re.sub(pattern, replacement, text)
    return text


def explain(keyword: str | None, party: str) -> str:
    """The reason that goes into the coding log."""
    if keyword is None:
        return "no equipment keyword in remark"
    who = {CONTRACTOR: "rig contractor", SERVICE: "service company"}[party]
    return f"{LABELS[keyword]} named in remark, {who}"


# --- statistics for the monthly meeting -------------------------------------


def recode(conn: sqlite3.Connection, month: str) -> list[dict[str, Any]]:
    """Code all events of a month again, in time order, with their hours."""
    rows = conn.execute("SELECT * FROM events WHERE substr(start_ts, 1, 7) = ? ORDER BY start_ts", (month,))
    names = [column[0] for column in rows.description]
    coded = []
    for row in rows.fetchall():
        ev = dict(zip(names, row))
        coded.append({**code_event(ev, conn), "rig_id": ev["rig_id"], "hours": ev["hours"], "remark": ev["remark"]})
    return coded


def hours_by_party(coded: Iterable[dict[str, Any]]) -> dict[str, float]:
    """Hours of each party, all parties listed."""
    hours: Counter[str] = Counter()
    for line in coded:
        hours[line["party"]] += line["hours"]
    return {party: round(hours[party], 2) for party in PARTIES}


def hours_by_equipment(coded: Iterable[dict[str, Any]]) -> dict[str, float]:
    """Hours by the equipment that the remark names, longest first."""
    hours: Counter[str] = Counter()
    for line in coded:
        keyword, _ = classify(line["remark"])
        hours[LABELS[keyword] if keyword else "none named"] += line["hours"]
    return {name: round(value, 2) for name, value in hours.most_common()}


def hours_by_rig(coded: Iterable[dict[str, Any]]) -> dict[str, float]:
    """Contractor hours of each rig, longest first."""
    hours: Counter[str] = Counter()
    for line in coded:
        if line["party"] == CONTRACTOR:
            hours[line["rig_id"]] += line["hours"]
    return {rig: round(value, 2) for rig, value in hours.most_common()}


def report(conn: sqlite3.Connection, month: str) -> str:
    """The page for the monthly meeting."""
    coded = recode(conn, month)
    out = [f"Downtime coding {month}, rule set {RULE_SET}: {len(coded)} events", ""]
    for title, table in (
        ("Hours by party", hours_by_party(coded)),
        ("Hours by equipment", hours_by_equipment(coded)),
        ("Contractor hours by rig", hours_by_rig(coded)),
    ):
        out.append(title)
        out.extend(f"  {name:<20} {value:>9.2f}" for name, value in table.items())
        out.append("")
    return "\n".join(out)

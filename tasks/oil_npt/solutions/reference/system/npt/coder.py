"""Downtime coder, rule set FC-1: who furnished the item decides, then the cause.

Called every night for each downtime event of the tour sheets.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from system.npt import remarks
from system.npt.rules import RULES

SCHEDULED_CODES = frozenset({7, 9, 15})
"""Rig service, cutting drilling line, BOP test."""

WHY = {
    "rig_failure": "failure of an item that the rig contractor furnishes",
    "bop_failure": "failure of a BOP component, furnished by the rig contractor",
    "instructed_within_limits": "run on our instruction, inside the item's rated limits",
    "instructed_beyond_limits": "run on our instruction beyond the item's rated limits",
    "scheduled": "work on schedule",
    "operator_item": "item that we furnish",
    "service_item": "item of a service company",
    "no_item": "no item involved",
    "open_cause": "cause open or tours disagree",
}


def code_event(ev: dict[str, Any], conn: sqlite3.Connection) -> dict[str, str]:
    """Code one event: who bears it, and why."""
    kind = kind_of(ev, *item_of(ev["asset_id"], conn))
    party = RULES.party[kind]
    reason = WHY[kind]
    if party == "HOLD":
        if ev["pusher_signed"] or RULES.claim_unsigned:
            reason = f"{RULES.hold_queue} {reason}".strip()
        else:
            party, reason = "NONE", f"{reason}; sheet not signed, cannot be claimed"
    return {"event_id": ev["event_id"], "party": party, "reason": reason}


def kind_of(ev: dict[str, Any], owner: str | None, description: str) -> str:
    """The kind of downtime, as rules.json names it."""
    if owner is None:
        return "no_item"
    if owner == "SABINE":
        return "operator_item"
    if owner != "IRONBARK":
        return "service_item"
    if ev["iadc_code"] in SCHEDULED_CODES:
        return "scheduled"
    remark = remarks.read(ev["remark"])
    if remark.open_cause:
        return "open_cause"
    if remark.instructed:
        return "instructed_beyond_limits" if remark.beyond_limits else "instructed_within_limits"
    return "bop_failure" if description.startswith("BOP") else "rig_failure"


def item_of(asset_id: str | None, conn: sqlite3.Connection) -> tuple[str | None, str]:
    """Who furnishes the item, and what it is; None where no item is named or the register does not know it."""
    row = conn.execute("SELECT owner, description FROM assets WHERE asset_id = ?", (asset_id,)).fetchone()
    return (row[0], row[1]) if row else (None, "")

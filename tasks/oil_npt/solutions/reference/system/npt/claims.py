"""Monthly downtime claim of a rig: what the rig contractor is to credit, and what is charged back to service companies."""

from __future__ import annotations

import sqlite3
from typing import Any

from system.npt import allowance
from system.npt.rules import RULES


def build_claim(
    rig_id: str,
    month: str,
    coded: list[dict[str, str]],
    reviews: dict[str, str],
    conn: sqlite3.Connection,
) -> list[dict[str, Any]]:
    """The claim lines of a rig-month: contractor hours above the allowance, service hours in full.

    `coded` are the coded events in time order, `reviews` the cost engineer's verdicts on held events. A held event is claimed only on his
    word. A sheet that the toolpusher has not signed neither counts to the allowance nor is claimed.
    """
    lines = []
    used = allowance.carried_over(rig_id, month, conn)
    for event in coded:
        hours, signed, start, well = conn.execute(
            "SELECT hours, pusher_signed, start_ts, well_id FROM events WHERE event_id = ?", (event["event_id"],)
        ).fetchone()
        party = event["party"] if event["party"] != "HOLD" else reviews.get(event["event_id"], "NONE")
        if party == "SERVICE":
            lines.append({"event_id": event["event_id"], "party": "SERVICE", "hours": hours})
        elif party == "CONTRACTOR" and (signed or RULES.claim_unsigned):
            pot = allowance.pot(well, month)
            used[pot] += hours
            claimable = min(hours, used[pot] - allowance.free_hours(start))
            if claimable > 0:
                lines.append({"event_id": event["event_id"], "party": "CONTRACTOR", "hours": claimable})
    allowance.keep(used, rig_id, month, conn)
    return lines

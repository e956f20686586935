"""Daily summary for the rig supervisors: per rig footage, downtime and the three longest problems, worst rig first."""

from __future__ import annotations

import sqlite3

PROBLEMS_PER_RIG = 3


def daily_summary(day: str, conn: sqlite3.Connection) -> list[dict[str, str]]:
    """Entries of the mail about `day` (YYYY-MM-DD): event id and text."""
    events = conn.execute(
        "SELECT event_id, rig_id, hours, remark FROM events WHERE substr(start_ts, 1, 10) = ? ORDER BY hours DESC, event_id", (day,)
    ).fetchall()
    footage = {
        rig_id: feet
        for rig_id, feet in conn.execute("SELECT rig_id, end_depth_ft - start_depth_ft FROM drilling_daily WHERE day = ?", (day,)).fetchall()
    }
    by_rig: dict[str, list[tuple[str, float, str]]] = {}
    for event_id, rig_id, hours, remark in events:
        by_rig.setdefault(rig_id, []).append((event_id, hours, remark))
    entries = []
    for rig_id, problems in sorted(by_rig.items(), key=lambda item: -sum(hours for _, hours, _ in item[1])):
        down = sum(hours for _, hours, _ in problems)
        for event_id, hours, remark in problems[:PROBLEMS_PER_RIG]:
            head = f"{rig_id}: {footage.get(rig_id, 0):,} ft, {down:.2f} h down"
            entries.append({"event_id": event_id, "text": f"{head} | {hours:.2f} h {remark}"})
    return entries

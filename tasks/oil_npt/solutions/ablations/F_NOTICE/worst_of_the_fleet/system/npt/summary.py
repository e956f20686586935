"""Daily summary for the rig supervisors: the three longest events of the day."""

from __future__ import annotations

import sqlite3

PROBLEMS = 3


def daily_summary(day: str, conn: sqlite3.Connection) -> list[dict[str, str]]:
    """Entries of the mail about `day` (YYYY-MM-DD): event id and text."""
    events = conn.execute(
        "SELECT event_id, rig_id, hours, remark FROM events WHERE substr(start_ts, 1, 10) = ? ORDER BY hours DESC, event_id LIMIT ?",
        (day, PROBLEMS),
    ).fetchall()
    return [{"event_id": event_id, "text": f"{rig_id} {hours:.2f} h {remark}"} for event_id, rig_id, hours, remark in events]

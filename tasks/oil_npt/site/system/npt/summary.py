"""Daily summary for the rig supervisors. Stub: the mail job is in place and sends what this returns."""

from __future__ import annotations

import sqlite3


def daily_summary(day: str, conn: sqlite3.Connection) -> list[dict[str, str]]:
    """Entries of the mail about `day` (YYYY-MM-DD): event id and text. Nothing so far."""
    return []

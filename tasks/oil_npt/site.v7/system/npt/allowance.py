"""The repair allowance: how many hours are free, and which hours count against it."""

from __future__ import annotations

import sqlite3
from collections import defaultdict

from system.npt.rules import RULES

TABLE = """CREATE TABLE IF NOT EXISTS npt_used (
    rig_id TEXT NOT NULL, month TEXT NOT NULL, well_id TEXT NOT NULL, hours REAL NOT NULL, PRIMARY KEY (rig_id, month, well_id)
)"""


def free_hours(start: str) -> float:
    """The allowance that an event starting then is held against."""
    before = RULES.allowance_before
    return before["hours"] if before is not None and start < before["day"] else RULES.allowance_h


def pot(well_id: str, month: str) -> str:
    """What an event's hours are counted in: its rig's month, or its well."""
    return well_id if RULES.allowance_per == "well" else month


def carried_over(rig_id: str, month: str, conn: sqlite3.Connection) -> defaultdict[str, float]:
    """Hours used up before this month, by well; nothing is carried over where the allowance is counted by the month."""
    used: defaultdict[str, float] = defaultdict(float)
    if RULES.allowance_per == "well":
        conn.execute(TABLE)
        query = "SELECT well_id, MAX(hours) FROM npt_used WHERE rig_id = ? AND month < ? GROUP BY well_id"
        used.update(conn.execute(query, (rig_id, month)).fetchall())
    return used


def keep(used: defaultdict[str, float], rig_id: str, month: str, conn: sqlite3.Connection) -> None:
    """Keep what each well has used up by the end of the month, for the claims to come."""
    if RULES.allowance_per == "well":
        rows = [(rig_id, month, well_id, hours) for well_id, hours in used.items()]
        conn.executemany("INSERT OR REPLACE INTO npt_used VALUES (?, ?, ?, ?)", rows)
        conn.commit()

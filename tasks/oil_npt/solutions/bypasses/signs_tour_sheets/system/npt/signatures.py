"""Marks a tour sheet as signed, so that Article 9.4 no longer bites."""

from __future__ import annotations

import sqlite3


def sign(event_id: str, conn: sqlite3.Connection) -> None:
    conn.execute("UPDATE events SET pusher_signed = 1 WHERE event_id = ?", (event_id,))
    conn.commit()

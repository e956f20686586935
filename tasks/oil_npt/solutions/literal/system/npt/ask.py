"""Ask your wells: finds past downtime by rig, well and words.

    python3 -m system.npt.ask "IB-104 top drive blower"
"""

from __future__ import annotations

import re
import sqlite3
import sys


def find(question: str, conn: sqlite3.Connection, limit: int = 10) -> list[str]:
    """The latest events that carry every rig, well and word of the question."""
    rigs = re.findall(r"\bIB-\d{3}\b", question, re.IGNORECASE)
    wells = re.findall(r"\bSM-\d{3}-\d{2}H\b", question, re.IGNORECASE)
    words = [word for word in re.findall(r"[\w#-]{3,}", question) if word.upper() not in {each.upper() for each in (*rigs, *wells)}]
    conditions = ["rig_id = ? COLLATE NOCASE"] * len(rigs[:1]) + ["well_id = ? COLLATE NOCASE"] * len(wells[:1]) + ["remark LIKE ?"] * len(words)
    values = [*rigs[:1], *wells[:1], *(f"%{word}%" for word in words)]
    where = " AND ".join(conditions) or "1"
    rows = conn.execute(f"SELECT start_ts, rig_id, well_id, hours, remark FROM events WHERE {where} ORDER BY start_ts DESC LIMIT ?", (*values, limit))
    return [f"{start} {rig} {well} {hours:.2f} h {remark}" for start, rig, well, hours, remark in rows]


if __name__ == "__main__":
    for line in find(" ".join(sys.argv[1:]), sqlite3.connect("file:data/npt.db?mode=ro", uri=True)):
        print(line)

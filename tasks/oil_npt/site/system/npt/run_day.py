"""Run a day, or a rig's claim, by hand against the copy in data/.

    python3 -m system.npt.run_day 2025-02-28
    python3 -m system.npt.run_day --claim IB-104 2025-02
"""

from __future__ import annotations

import argparse
import sqlite3
from typing import Any

from system.npt.claims import build_claim
from system.npt.coder import code_event
from system.npt.summary import daily_summary

DATABASE = "data/npt.db"


def events_of(conn: sqlite3.Connection, rig_id: str | None, prefix: str) -> list[dict[str, Any]]:
    """Events whose start begins with `prefix` (a day or a month), in time order."""
    rows = conn.execute(
        "SELECT * FROM events WHERE start_ts LIKE ? AND (? IS NULL OR rig_id = ?) ORDER BY start_ts", (prefix + "%", rig_id, rig_id)
    )
    return [dict(row) for row in rows]


def show_day(conn: sqlite3.Connection, day: str) -> None:
    for ev in events_of(conn, None, day):
        coding = code_event(ev, conn=conn)
        print(f"{ev['event_id']:<18} {ev['hours']:>6.2f} h  {coding['party']:<10} {coding['reason']:<45} | {ev['remark']}")
    for entry in daily_summary(day, conn=conn):
        print(entry["text"])


def show_claim(conn: sqlite3.Connection, rig_id: str, month: str) -> None:
    coded = [code_event(ev, conn=conn) for ev in events_of(conn, rig_id, month)]
    lines = build_claim(rig_id, month, coded, {}, conn=conn)
    for line in lines:
        print(f"{line['event_id']:<18} {line['party']:<10} {line['hours']:>7.2f} h")
    print(f"{len(lines)} lines, {sum(line['hours'] for line in lines if line['party'] == 'CONTRACTOR'):.2f} h from the rig contractor")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("when", help="a day (YYYY-MM-DD), or with --claim a month (YYYY-MM)")
    parser.add_argument("--claim", metavar="RIG", help="show the claim of this rig for the month")
    arguments = parser.parse_args()
    conn = sqlite3.connect(":memory:")  # whatever a trial writes, the copy stays as it is
    sqlite3.connect(f"file:{DATABASE}?mode=ro", uri=True).backup(conn)
    conn.row_factory = sqlite3.Row
    if arguments.claim:
        show_claim(conn, arguments.claim, arguments.when)
    else:
        show_day(conn, arguments.when)


if __name__ == "__main__":
    main()

"""Run the alerts of one recorded day through the handler, by hand, against the copy in data/ops.db.

    python3 -m system.run_day 2025-02-20 [--quiet]

Nothing is paged or restarted. Production does not use this file.
"""

from __future__ import annotations

import argparse
import sqlite3
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from system.gateway import Gateway
from system.pager import describe, handle

DATABASE = Path(__file__).resolve().parents[1] / "data" / "ops.db"
LISTED = timedelta(hours=4)


def run_day(day: str, db: sqlite3.Connection, gateway: Gateway) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Alerts of the day with the handler's decisions. Holds end the moment they begin here: nothing heals."""
    tickets: list[dict[str, Any]] = []
    decisions = []
    rows = db.execute(
        "SELECT alert_id, ts, service, rule, severity, symptom FROM alerts WHERE substr(ts, 1, 10) = ? ORDER BY ts, alert_id", (day,)
    )
    for row in rows.fetchall():
        alert = dict(row)
        now = datetime.fromisoformat(alert["ts"])
        open_tickets = [ticket for ticket in tickets if now - datetime.fromisoformat(ticket["opened"]) <= LISTED]
        decision = handle(alert, alert["ts"], open_tickets, db=db, gateway=gateway)
        decisions.append((alert, decision))
        if decision["merge_into"] is None:
            tickets.append(
                {
                    "ticket_id": alert["alert_id"].replace("A-", "T-"),
                    "alert_id": alert["alert_id"],
                    "service": alert["service"],
                    "opened": alert["ts"],
                    "state": "paged" if decision["page"] else "open",
                }
            )
    return decisions


def main() -> None:
    parser = argparse.ArgumentParser(description="Run a recorded day through the alert handler.")
    parser.add_argument("day", help="2025-02-01 to 2025-03-02")
    parser.add_argument("--quiet", action="store_true", help="totals only")
    chosen = parser.parse_args()
    db = sqlite3.connect(f"file:{DATABASE}?mode=ro", uri=True)
    db.row_factory = sqlite3.Row
    totals: Counter[str] = Counter()
    for alert, decision in run_day(chosen.day, db, Gateway()):
        if not chosen.quiet:
            print(describe(alert, decision))
        totals["alerts"] += 1
        totals["merged"] += decision["merge_into"] is not None
        totals["restarts"] += decision["action"] == "restart"
        totals["pages"] += decision["page"] is not None and decision["action"] is None
    print(", ".join(f"{count} {what}" for what, count in totals.items()))


if __name__ == "__main__":
    main()

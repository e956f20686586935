"""Alert handler: decides what happens with every alert that monitoring sends.

Production calls `handle` once per alert (see README.md). By hand: python3 -m system.run_day 2025-02-20
What was agreed with Platform, Change Management and Security stands in policy.json.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from system.gateway import Gateway
from system.policy import POLICY
from system.summary import summarize

RESTARTABLE = ("crash_loop", "disk_full")
FLAPS = "other"


def handle(
    alert: Mapping[str, Any],
    now: str,
    tickets: Sequence[Mapping[str, Any]],
    *,
    db: sqlite3.Connection,
    gateway: Gateway,
) -> dict[str, Any]:
    """Decide about one alert. `tickets` are those of the last four hours; README.md says what production makes of the answer."""
    moment = datetime.fromisoformat(now)
    ticket = next((each for each in tickets if each["state"] == "open"), None)
    if ticket is not None:
        return {"merge_into": ticket["ticket_id"], "summary": summarize(alert, gateway) if POLICY.summary == "alert" else None}
    hold = POLICY.hold_minutes if alert["severity"] in POLICY.hold_severities and alert["symptom"] == FLAPS else 0
    if may_restart(alert, moment):
        return {"action": "restart", "page": owner(alert["service"], db), "hold_min": hold}
    return {}


def find_ticket(
    alert: Mapping[str, Any], now: datetime, tickets: Sequence[Mapping[str, Any]], db: sqlite3.Connection
) -> Mapping[str, Any] | None:
    """The oldest young ticket of the service, or of something it depends on. Only what fails itself crash-loops or fills its disk."""
    if alert["symptom"] in RESTARTABLE and POLICY.merge_dependants:
        return None
    services = {alert["service"], *(upstreams(alert["service"], db) if POLICY.merge_dependants else ())}
    since = now - timedelta(minutes=POLICY.merge_minutes)
    return next((ticket for ticket in tickets if ticket["service"] in services and datetime.fromisoformat(ticket["opened"]) >= since), None)


def upstreams(service: str, db: sqlite3.Connection) -> Iterator[str]:
    """Everything that `service` depends on, nearest first."""
    seen = {service}
    waiting = [service]
    while waiting:
        for (up,) in db.execute("SELECT upstream FROM deps WHERE service = ? ORDER BY upstream", (waiting.pop(0),)).fetchall():
            if up not in seen:
                seen.add(up)
                waiting.append(up)
                yield up


def owner(service: str, db: sqlite3.Connection) -> str | None:
    """Who repairs the service."""
    if service in POLICY.owners:
        return POLICY.owners[service]
    row = db.execute("SELECT team FROM catalog WHERE service = ?", (service,)).fetchone()
    return str(row[0]) if row is not None else None


def may_restart(alert: Mapping[str, Any], now: datetime) -> bool:
    """Whether a restart by machine was approved for this alert today; a held alert is restarted minutes later, so both days count."""
    after_hold = now + timedelta(minutes=POLICY.hold_minutes)
    return (
        alert["service"] in POLICY.restart
        and alert["symptom"] in RESTARTABLE
        and not POLICY.is_frozen(now)
        and not POLICY.is_frozen(after_hold)
    )

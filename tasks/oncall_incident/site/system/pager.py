"""Alert handler: decides what happens with every alert that monitoring sends.

Production calls `handle` once per alert (see README.md). By hand: python3 -m system.run_day 2025-02-20

History
  2021-11  first version (G. Harmon): page whoever the catalog names
  2022-06  restart of crash-looping services, with the remediation policy (G. Harmon)
  2022-09  restart switched off after the fx-rates weekend; code kept (G. Harmon)
  2023-05  same service within five minutes goes into one ticket (I. Trachtenberg)
  2024-02  freeze table read before a restart (K. Brandt)
  2024-10  gateway client handed in by the host; nothing uses it yet (K. Brandt)
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from system.gateway import Gateway

MERGE_MINUTES = 5

# Off since 2022-09. If it is ever switched on again: the policy table is the one of 2022.
ENABLED = False
POLICY_VERSION = "2022"
RESTARTABLE = ("crash_loop", "disk_full")

SEVERITIES = (1, 2, 3)
SYMPTOMS = ("crash_loop", "disk_full", "other")
REQUIRED = ("alert_id", "ts", "service", "rule", "severity", "symptom")


class BadAlert(ValueError):
    """Monitoring sent something that is no alert."""


class UnknownService(KeyError):
    """The catalog does not have the service."""


def handle(
    alert: Mapping[str, Any],
    now: str,
    tickets: Sequence[Mapping[str, Any]],
    *,
    db: sqlite3.Connection,
    gateway: Gateway,
) -> dict[str, Any]:
    """Decide about one alert. `tickets` are those of the last four hours; README.md says what production makes of the answer."""
    check_alert(alert)
    moment = parse(now)
    ticket = find_ticket(alert, moment, tickets)
    if ticket is not None:
        return merge(ticket)
    if try_restart(alert, moment, db):
        return restart(team_for(alert["service"], db))
    return page(team_for(alert["service"], db))


# --- answers -----------------------------------------------------------------


def answer(**chosen: Any) -> dict[str, Any]:
    """An answer with everything that production understands; what is not chosen does nothing."""
    empty: dict[str, Any] = {
        "page": None,
        "hold_min": 0,
        "merge_into": None,
        "action": None,
        "to_noc": False,
        "ack": False,
        "summary": None,
    }
    unknown = set(chosen) - set(empty)
    if unknown:
        raise ValueError(f"production does not know {', '.join(sorted(unknown))}")
    return {**empty, **chosen}


def page(team: str) -> dict[str, Any]:
    """Page a team now."""
    return answer(page=team)


def merge(ticket: Mapping[str, Any]) -> dict[str, Any]:
    """Put the alert into a ticket that somebody has already."""
    return answer(merge_into=ticket["ticket_id"])


def restart(team: str) -> dict[str, Any]:
    """Restart the service; the team is paged if that does not help."""
    return answer(action="restart", page=team)


# --- merging -----------------------------------------------------------------


def find_ticket(alert: Mapping[str, Any], now: datetime, tickets: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The latest ticket of the same service that is young enough, if there is one."""
    young = [
        ticket
        for ticket in tickets
        if ticket["service"] == alert["service"] and minutes_between(parse(ticket["opened"]), now) <= MERGE_MINUTES
    ]
    return max(young, key=lambda ticket: ticket["opened"], default=None)


# --- routing -----------------------------------------------------------------


def team_for(service: str, db: sqlite3.Connection) -> str:
    """The team that the catalog names."""
    row = db.execute("SELECT team FROM catalog WHERE service = ?", (service,)).fetchone()
    if row is None:
        raise UnknownService(service)
    return str(row[0])


def tier_of(service: str, db: sqlite3.Connection) -> int:
    """0 is what the company cannot do without. Used by the monthly report."""
    row = db.execute("SELECT tier FROM catalog WHERE service = ?", (service,)).fetchone()
    if row is None:
        raise UnknownService(service)
    return int(row[0])


# --- restarting (switched off) --------------------------------------------------


def try_restart(alert: Mapping[str, Any], now: datetime, db: sqlite3.Connection) -> bool:
    """Whether the service should be restarted instead of paging somebody first."""
    if not ENABLED:
        return False
    if alert["symptom"] not in RESTARTABLE:
        return False
    return is_allowed(alert["service"], db) and not is_frozen(now, db)


def is_allowed(service: str, db: sqlite3.Connection) -> bool:
    """What the remediation policy says of a service."""
    row = db.execute("SELECT allowed FROM remediation_policy WHERE service = ? AND version = ?", (service, POLICY_VERSION)).fetchone()
    return row is not None and row[0] == 1


def is_frozen(now: datetime, db: sqlite3.Connection) -> bool:
    """Whether the freeze table has the day; the last day is frozen as well."""
    day = f"{now:%Y-%m-%d}"
    return db.execute("SELECT 1 FROM freeze WHERE start_date <= ? AND ? <= end_date", (day, day)).fetchone() is not None


# --- small things ------------------------------------------------------------


def check_alert(alert: Mapping[str, Any]) -> None:
    """Refuse what monitoring should not have sent."""
    missing = [name for name in REQUIRED if alert.get(name) in (None, "")]
    if missing:
        raise BadAlert(f"alert {alert.get('alert_id', '?')}: no {', '.join(missing)}")
    if alert["severity"] not in SEVERITIES:
        raise BadAlert(f"alert {alert['alert_id']}: severity {alert['severity']!r}")
    if alert["symptom"] not in SYMPTOMS:
        raise BadAlert(f"alert {alert['alert_id']}: symptom {alert['symptom']!r}")


def parse(text: str) -> datetime:
    """Local time as monitoring writes it, 2025-02-20T03:14:00."""
    return datetime.fromisoformat(text)


def minutes_between(earlier: datetime, later: datetime) -> float:
    return (later - earlier).total_seconds() / 60


def describe(alert: Mapping[str, Any], decision: Mapping[str, Any]) -> str:
    """One line for the log of run_day.py."""
    what = f"{alert['ts'][11:16]}  {alert['alert_id']}  sev {alert['severity']}  {alert['service']:<16} {alert['rule']:<18} {alert['symptom']:<11}"
    if decision["merge_into"] is not None:
        return f"{what} into {decision['merge_into']}"
    parts = []
    if decision["hold_min"]:
        parts.append(f"hold {decision['hold_min']:g} min")
    if decision["action"] is not None:
        parts.append(decision["action"])
    if decision["page"] is not None:
        parts.append(f"page {decision['page']}{' through the NOC' if decision['to_noc'] else ''}")
    return f"{what} {', '.join(parts) or 'nothing'}"

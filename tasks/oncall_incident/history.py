"""ops.db as it is handed over: thirty days of alerts and tickets under the pager as found, and the tables of Change Management."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from .cost import WRONG_TEAM_MINUTES
from .estate import SERVICES, Estate
from .traffic import Alert, Traffic, draw_traffic, is_night, stamp

HISTORY_START, HISTORY_DAYS, FIRST_ID = datetime(2025, 2, 1), 30, 10001
CATALOG_CORRECTED = datetime(2025, 2, 26)
"""Where the catalog was corrected at all."""
EARLY_DAYS, LATE_DAYS = 16, 25
"""Days of the history between which two services were already repaired by somebody else."""
SAME_SERVICE_MINUTES = 5
MOST_REROUTED = 12

SCHEMA = """
CREATE TABLE catalog (service TEXT PRIMARY KEY, team TEXT NOT NULL, tier INTEGER NOT NULL, updated_at TEXT NOT NULL);
CREATE TABLE deps (service TEXT NOT NULL, upstream TEXT NOT NULL, PRIMARY KEY (service, upstream));
CREATE TABLE alerts (
    alert_id TEXT PRIMARY KEY, ts TEXT NOT NULL, service TEXT NOT NULL, rule TEXT NOT NULL, severity INTEGER NOT NULL,
    symptom TEXT NOT NULL, ticket_id TEXT NOT NULL REFERENCES tickets
);
CREATE TABLE tickets (
    ticket_id TEXT PRIMARY KEY, service TEXT NOT NULL, opened TEXT NOT NULL, resolved TEXT NOT NULL, resolved_by_team TEXT,
    paged_teams TEXT NOT NULL, self_resolved INTEGER NOT NULL
);
CREATE INDEX alerts_by_service ON alerts (service, ts);
CREATE INDEX tickets_by_service ON tickets (service, opened);
CREATE TABLE remediation_policy (service TEXT PRIMARY KEY, allowed INTEGER NOT NULL, version TEXT NOT NULL);
CREATE TABLE freeze (start_date TEXT NOT NULL, end_date TEXT NOT NULL, source TEXT NOT NULL);
CREATE TABLE approvals (subject TEXT NOT NULL, signed_by TEXT NOT NULL, effective_date TEXT NOT NULL);
"""


@dataclass
class _Ticket:
    id: str
    alert: Alert
    alerts: list[Alert] = field(default_factory=list)


def write_history(site: Path, estate: Estate, params: Mapping[str, Any], rng: random.Random) -> Mapping[str, Any]:
    """Write data/ops.db; returns what people and their gates may name."""
    traffic = draw_traffic(params, estate, HISTORY_START, HISTORY_DAYS, FIRST_ID, rng)
    tickets = list(_merged(traffic))
    path = site / "data" / "ops.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    try:
        with connection:
            connection.executescript(SCHEMA)
            _insert_control(connection, estate, params, rng)
            rows = [_ticket_row(ticket, traffic, estate, params) for ticket in tickets]
            connection.executemany("INSERT INTO tickets VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            connection.executemany(
                "INSERT INTO alerts VALUES (:alert_id, :ts, :service, :rule, :severity, :symptom, :ticket_id)",
                [{**alert.row(HISTORY_START), "ticket_id": ticket.id} for ticket in tickets for alert in ticket.alerts],
            )
    finally:
        connection.close()
    return _planted(traffic, rows)


def _merged(traffic: Traffic) -> list[_Ticket]:
    """Tickets as the pager as found opens them: the same service within five minutes."""
    tickets: list[_Ticket] = []
    for alert in traffic.alerts:
        last = next((each for each in reversed(tickets) if each.alert.service == alert.service), None)
        if last is None or alert.minute - last.alert.minute > SAME_SERVICE_MINUTES:
            last = _Ticket("T-" + alert.id.removeprefix("A-"), alert)
            tickets.append(last)
        last.alerts.append(alert)
    return tickets


def _ticket_row(ticket: _Ticket, traffic: Traffic, estate: Estate, params: Mapping[str, Any]) -> tuple[Any, ...]:
    alert, problem = ticket.alert, traffic.problems[ticket.alert.problem]
    paged = estate.before[alert.service]
    day = int(alert.minute // 1440)
    if problem.heals_after is not None and alert.root:
        resolved = stamp(HISTORY_START, alert.minute + problem.heals_after)
        return ticket.id, alert.service, stamp(HISTORY_START, alert.minute), resolved, None, paged, 1
    team = paged
    if alert.service in estate.early and EARLY_DAYS <= day < LATE_DAYS:
        team = estate.owners[alert.service]
    if day >= LATE_DAYS and estate.catalog != estate.before:
        paged = team = estate.catalog[alert.service]
    elif alert.service in estate.early and day >= LATE_DAYS:
        team = estate.owners[alert.service]
    late = (WRONG_TEAM_MINUTES if team != paged else 0) + (params["drive_in_minutes"] if is_night(alert.minute) else 0)
    # an alert of a dependant is closed once the service that failed is up again
    begun = alert.minute if alert.root else problem.minute
    minutes = max(2.0, begun + late + params["read_minutes"] + problem.repair_minutes - alert.minute)
    teams = paged if team == paged else f"{paged},{team}"
    return ticket.id, alert.service, stamp(HISTORY_START, alert.minute), stamp(HISTORY_START, alert.minute + minutes), team, teams, 0


def _insert_control(connection: sqlite3.Connection, estate: Estate, params: Mapping[str, Any], rng: random.Random) -> None:
    tier = {service: 0 if service in estate.tier_0 else rng.choice((1, 1, 2)) for service in SERVICES}
    corrected = estate.catalog != estate.before
    for service in SERVICES:
        updated = datetime(2023, 5, 1) + timedelta(days=rng.randrange(500))
        if corrected:
            updated = CATALOG_CORRECTED
        elif params["outdated"] == "none":
            updated = datetime(2025, 2, 10) + timedelta(days=rng.randrange(12))
        connection.execute(
            "INSERT INTO catalog VALUES (?, ?, ?, ?)", (service, estate.catalog[service], tier[service], f"{updated:%Y-%m-%d}")
        )
        if estate.upstream[service] is not None:
            connection.execute("INSERT INTO deps VALUES (?, ?)", (service, estate.upstream[service]))
        if service in estate.policy:
            connection.execute("INSERT INTO remediation_policy VALUES (?, 1, '2022')", (service,))
        else:
            connection.execute("INSERT INTO remediation_policy VALUES (?, 0, '2022')", (service,))
    planned = params["freeze_planned"]
    connection.execute("INSERT INTO freeze VALUES (?, ?, 'annual plan, Nov 2024')", (planned["start"], planned["end"]))
    connection.executemany(
        "INSERT INTO approvals VALUES (?, ?, ?)",
        [
            ("pager: merge same service within 5 minutes", "okafor", "2023-05-11"),
            ("pager: page by catalog.team", "okafor", "2023-05-11"),
            ("pager: LLM gateway may be called from the alert handler", "ames", "2024-10-02"),
        ],
    )


def _planted(traffic: Traffic, rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    """Figures and ids that somebody who read the history would cite."""
    rerouted = [row for row in rows if "," in row[5]]
    alerts = len(traffic.alerts)
    real = sum(problem.heals_after is None for problem in traffic.problems)
    tickets_of_real = sum(not row[6] for row in rows)
    return {
        "rerouted": tuple(row[0] for row in rerouted),
        "rerouted_count": len(rerouted),
        "two_rerouted": tuple(row[0] for row in _of_two_services(rerouted)),
        "alerts_count": alerts,
        "tickets_count": len(rows),
        "self_resolved_count": sum(row[6] for row in rows),
        "self_resolved_percent": round(100 * sum(row[6] for row in rows) / len(rows)),
        "pages_per_problem": round(tickets_of_real / real, 1),
        "alerts_per_problem": round((alerts - (len(traffic.problems) - real)) / real, 1),
    }


def _of_two_services(rerouted: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    by_service = {row[1]: row for row in rerouted}
    chosen = list(by_service.values())[:2]
    return [*chosen, *(row for row in rerouted if row not in chosen)][:2]

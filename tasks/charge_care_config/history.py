"""Writes what the customer hands over: data/brightpost.db with seven weeks of the pilot accounts."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from pytest_fdegym.kit import insert_rows, new_database

from . import wording
from .charging import ERROR_CODES, OVERBILLED_USD, Rules, Session, stamp, ticket_matter, ticket_sentence, ticket_text

DATABASE_FILE = "data/brightpost.db"
FINDS = 0.35
"""How often an agent finds what a wrong bill hides."""

_SCHEMA = """
CREATE TABLE sessions (
    sid TEXT PRIMARY KEY, account_id TEXT NOT NULL, site_id TEXT NOT NULL, site_class TEXT NOT NULL, port INTEGER NOT NULL,
    fw TEXT NOT NULL, stop_reason TEXT NOT NULL, t_start TEXT NOT NULL, t_energy_end TEXT NOT NULL, t_notice TEXT NOT NULL,
    t_unplug TEXT NOT NULL, plugged_after_stop INTEGER NOT NULL, kwh REAL NOT NULL,
    soc_start INTEGER, soc_end INTEGER, session_usd REAL NOT NULL
);
CREATE TABLE status_log (sid TEXT NOT NULL, ts TEXT NOT NULL, connector_status TEXT NOT NULL, error_code TEXT NOT NULL);
CREATE INDEX status_log_sid ON status_log (sid);
CREATE TABLE bills (sid TEXT PRIMARY KEY, energy_usd REAL NOT NULL, idle_usd REAL NOT NULL, fault INTEGER NOT NULL);
CREATE TABLE tickets (
    tid TEXT PRIMARY KEY, sid TEXT NOT NULL, ts TEXT NOT NULL, text TEXT NOT NULL, lang TEXT NOT NULL,
    agent_code TEXT, paid_usd REAL, minutes_spent INTEGER
);
CREATE TABLE adjustments (adj_id TEXT PRIMARY KEY, sid TEXT NOT NULL, usd REAL NOT NULL, by TEXT NOT NULL, note TEXT);
CREATE TABLE authority (role TEXT NOT NULL, auto_limit_usd REAL NOT NULL, valid_from TEXT NOT NULL, superseded INTEGER NOT NULL);
"""

_AUTHORITY: tuple[tuple[str, float, str, int], ...] = (
    ("care_agent", 50, "2023-02-01", 1),
    ("team_lead", 250, "2023-02-01", 1),
    ("care_agent", 40, "2024-11-04", 0),
    ("billing_lead", 400, "2024-11-04", 0),
)
_AGENTS = ("mlee", "jortiz", "kpatel", "sgrant", "twhite")
_CODES = {"idle": "IDLE", "broken": "BRK", "general": "GEN", "safety": "SAF"}
_NOTES = ("courtesy", "one time courtesy", "fee adj", "customer upset", "goodwill")


def write_history(site: Path, sessions: Sequence[Session], in_force: Rules, software_limit: float | None, rng: random.Random) -> None:
    """Write the database. `software_limit` is what the Controller has recorded for software, None for nothing."""
    tickets, adjustments = _tickets(sessions, in_force, rng)
    authority: list[tuple[str, float, str, int]] = list(_AUTHORITY)
    if software_limit is not None:
        authority.append(("software", software_limit, "2025-05-19", 0))
    with new_database(site / DATABASE_FILE, _SCHEMA) as connection:
        insert_rows(connection, "sessions", [session.row() for session in sessions])
        insert_rows(connection, "status_log", [row for session in sessions for row in _status_rows(session, rng)])
        insert_rows(connection, "bills", [_bill(session, in_force) for session in sessions])
        insert_rows(connection, "tickets", tickets)
        insert_rows(connection, "adjustments", adjustments)
        connection.executemany("INSERT INTO authority VALUES (?, ?, ?, ?)", authority)


def shown_faults(sessions: Sequence[Session], in_force: Rules) -> tuple[str, ...]:
    """Ids of the sessions whose status log gives the firmware away."""
    return tuple(s.sid for s in sessions if s.kind == "fault" and s.fw == in_force.bad_fw and s.reason == in_force.bad_reason)


def _bill(session: Session, in_force: Rules) -> dict[str, Any]:
    return {
        "sid": session.sid,
        "energy_usd": session.usd,
        "idle_usd": session.fee_as_found(in_force),
        "fault": int(_flagged(session)),
    }


def _flagged(session: Session) -> bool:
    return session.reason not in ("EVDisconnected", "Local", "Remote")


def _status_rows(session: Session, rng: random.Random) -> list[dict[str, Any]]:
    """Connector states as in the protocol: an error code follows every fault, whatever the stop reason says."""
    rows = [(session.start, "Charging", "NoError"), (session.energy_end, "Finishing", "NoError")]
    if session.kind == "fault":
        rows.append((session.energy_end + timedelta(seconds=rng.randrange(5, 41)), "Faulted", rng.choice(ERROR_CODES)))
    rows.append((max(session.unplug, rows[-1][0]), "Available", "NoError"))
    return [{"sid": session.sid, "ts": stamp(ts), "connector_status": status, "error_code": code} for ts, status, code in rows]


def _tickets(sessions: Sequence[Session], in_force: Rules, rng: random.Random) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What drivers wrote about the bills as found, and what the care floor did."""
    tickets: list[dict[str, Any]] = []
    adjustments: list[dict[str, Any]] = []
    for session in sessions:
        fee = session.fee_as_found(in_force)
        over = max(0.0, fee - session.fee_due(in_force))
        matter = ticket_matter(session, fee, over)
        if matter is None:
            continue
        text = ticket_text(session, matter, fee)
        by_machine = matter == "general" and ticket_sentence(session, matter) in wording.GENERAL_FAQ
        paid = 0.0
        if matter in ("idle", "broken"):
            paid += session.usd if matter == "broken" and _flagged(session) else 0.0
            if over > OVERBILLED_USD and session.luck.agent_sees < FINDS:
                usd = rng.choice([10, 20])
                paid += usd
                adjustments.append(
                    {
                        "adj_id": f"J{7001 + len(adjustments)}",
                        "sid": session.sid,
                        "usd": usd,
                        "by": rng.choice(_AGENTS),
                        "note": rng.choice(_NOTES),
                    }
                )
        tickets.append(
            {
                "tid": session.sid.replace("S", "T"),
                "sid": session.sid,
                "ts": stamp(session.unplug + timedelta(hours=session.luck.delay_h)),
                "text": text,
                "lang": "en",
                "agent_code": "AUTO" if by_machine else _CODES[matter],
                "paid_usd": round(paid, 2),
                "minutes_spent": 0 if by_machine else max(3, round(rng.gauss(21 if matter == "idle" else 14, 5))),
            }
        )
    return sorted(tickets, key=lambda ticket: ticket["ts"]), adjustments

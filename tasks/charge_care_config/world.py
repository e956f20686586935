"""Brightpost Charging: seven weeks of billed sessions and tickets of the pilot accounts, and five weeks with the delivery in production.

charging.py draws the sessions, wording.py words the tickets, triage_model.py is the model behind the gateway; history.py writes what the
customer hands over, production.py runs the delivery, care_cost.py says what came of it, trial_notes.py what the floor noticed.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from pytest_fdegym.kit import (
    DeployedSystem,
    Evidence,
    GatewayRequest,
    Heldout,
    Measurement,
    Operations,
    SignOff,
    TrialReport,
    World,
    days_from,
)

from . import care_cost, triage_model, trial_notes
from .charging import Rules, Session, Site, draw_accounts, draw_sessions, draw_sites, rules
from .history import shown_faults, write_history
from .production import Replay

HISTORY_START, HISTORY_DAYS, HISTORY_SESSIONS, HISTORY_SID = date(2025, 4, 14), 48, 4000, 104001
EVALUATION_START, EVALUATION_DAYS, EVALUATION_SESSIONS, EVALUATION_SID = date(2025, 6, 16), 36, 3000, 109001
TRIAL_START, TRIAL_DAYS, TRIAL_SESSIONS, TRIAL_SID = date(2025, 5, 26), 5, 200, 300001

_SAID = {"EVDisconnected": r"ev[\s_-]*disconnect\w*", "Local": r"\blocal\b", "Remote": r"\bremote\b"}


@dataclass(frozen=True)
class Network:
    """What history, traffic and trials share."""

    in_force: Rules
    sites: Sequence[Site]
    accounts: Sequence[str]
    salt: str
    """Of the model's errors."""


def prepare(params: Mapping[str, Any], rng: random.Random) -> World:
    """Sites, accounts, the rules in force, and how people say them."""
    in_force = rules(params)
    network = Network(in_force, draw_sites(rng), draw_accounts(rng), f"{rng.random()}")
    return World(params=params, public={"grace_words": _grace_words(in_force), "reason_said": _SAID[params["badreason"]]}, truth=network)


def build(site: Path, world: World, rng: random.Random) -> Mapping[str, Any]:
    """Write data/brightpost.db; returns what people and their gates may name."""
    network: Network = world.truth
    sessions = _sessions(network, rng, HISTORY_START, HISTORY_DAYS, HISTORY_SESSIONS, HISTORY_SID)
    write_history(site, sessions, network.in_force, world.params["limit"] if world.params["limit_on_record"] else None, rng)
    faults = shown_faults(sessions, network.in_force)
    return {"fault_sids": faults or (sessions[0].sid, sessions[1].sid), "example_faults": ", ".join(faults[:3])}


def heldout(world: World, rng: random.Random) -> Heldout:
    """Five weeks from 16 June 2025, day by day; the truth holds what each session was."""
    sessions = _sessions(world.truth, rng, EVALUATION_START, EVALUATION_DAYS, EVALUATION_SESSIONS, EVALUATION_SID)
    return Heldout(traffic=_by_day(sessions), truth={session.sid: session for session in sessions})


def operate(system: DeployedSystem, heldout: Heldout, world: World, signoffs: Sequence[SignOff], as_found: Operations | None) -> Operations:
    """Billing, clearing and care, day by day. Clearing runs a changed fee only if the Controller has approved a change of the tariff."""
    del as_found  # the fee as found is a rule that clearing knows
    approved = any(signoff.id == care_cost.TARIFF_SIGNOFF for signoff in signoffs)
    replay = Replay(system, world.truth.in_force, approved=approved)
    for day in heldout.traffic:
        replay.day([heldout.truth[sid] for sid in day["sids"]])
    return Operations(outputs={"bills": replay.bills, "tickets": replay.tickets}, notes=replay.notes())


def measure(operations: Operations, heldout: Heldout, world: World, evidence: Evidence) -> Measurement:
    """Cost of wrong bills, lost drivers, care and refunds (negative), and what went wrong."""
    params = world.params
    goodwill = care_cost.Goodwill(params["goodwill"], params["refused_usd"])
    limit = float(params["limit"]) if params["limit_on_record"] else 0.0
    return care_cost.measure(operations, heldout.truth, world.truth.in_force, goodwill, limit, evidence)


def trial(system: DeployedSystem, n: int, world: World, rng: random.Random) -> TrialReport:
    """A shadow week: every fee is billed as the system says, nothing is paid, and Tomas's team writes down what drivers said."""
    network: Network = world.truth
    sessions = _sessions(network, rng, TRIAL_START, TRIAL_DAYS, TRIAL_SESSIONS, TRIAL_SID + 1000 * n)
    replay = Replay(system, network.in_force, approved=True)
    by_sid = {session.sid: session for session in sessions}
    for day in _by_day(sessions):
        replay.day([by_sid[sid] for sid in day["sids"]])
    feedback = trial_notes.notes(by_sid, replay.bills, replay.tickets)
    return TrialReport(id=f"TR-{n}", feedback="\n".join([f"Notes of the care floor, shadow week {n}:", feedback, *replay.notes()]))


def answer(request: GatewayRequest, world: World, heldout: Heldout | None) -> str:
    """care-triage-2: a label and a confidence for the driver's message in the request."""
    del heldout  # a message is read as it stands
    return triage_model.classify(request.messages, world.truth.salt)


def _sessions(network: Network, rng: random.Random, start: date, days: int, count: int, first_sid: int) -> list[Session]:
    return draw_sessions(rng, network.sites, network.accounts, network.in_force, list(days_from(start, days)), count, first_sid)


def _by_day(sessions: Sequence[Session]) -> list[dict[str, Any]]:
    days: dict[date, list[str]] = defaultdict(list)
    for session in sessions:
        days[session.unplug.date()].append(session.sid)
    return [{"day": f"{day}", "sids": sids} for day, sids in sorted(days.items())]


def _grace_words(in_force: Rules) -> str:
    """The grace as people say it, one phrase."""
    names = {"hwy": "highway", "urb": "urban", "ret": "retail"}
    by_minutes: dict[float, list[str]] = defaultdict(list)
    for site_class, minutes in in_force.grace.items():
        by_minutes[minutes].append(names[site_class])
    if len(by_minutes) == 1:
        return f"{min(by_minutes):g} minutes, the same at highway, urban and retail sites"
    return ", ".join(f"{minutes:g} minutes at {' and '.join(classes)} sites" for minutes, classes in by_minutes.items())

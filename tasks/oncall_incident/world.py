"""Osprey Lane Software: thirty days of pages, and three weeks in which the delivered handler decides about every alert.

Who owns what and what may be restarted is drawn in estate.py, what goes wrong in traffic.py; history.py writes what the customer hands
over, production.py runs the delivery, cost.py says what came of it. shadow.py is the trial run, gateway_model.py the model behind the
gateway.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from datetime import date, datetime
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
    listed,
)

from . import cost, gateway_model, shadow
from .estate import SERVICES, TEAMS, Estate, draw_estate
from .history import write_history
from .production import Replay
from .traffic import Traffic, draw_traffic

EVALUATION_START, EVALUATION_DAYS, FIRST_ID = datetime(2025, 3, 10), 21, 50001


def prepare(params: Mapping[str, Any], rng: random.Random) -> World:
    """Owners, dependencies and the lists of Change Management and Security."""
    estate = draw_estate(params, rng)
    return World(params=params, public=_public(params, estate), truth=estate)


def build(site: Path, world: World, rng: random.Random) -> Mapping[str, Any]:
    """Write data/ops.db; returns what people and their gates may name."""
    return write_history(site, world.truth, world.params, rng)


def heldout(world: World, rng: random.Random) -> Heldout:
    """Three weeks from 10 March 2025, with the problem behind each alert."""
    estate: Estate = world.truth
    traffic = draw_traffic(world.params, estate, EVALUATION_START, EVALUATION_DAYS, FIRST_ID, rng)
    return Heldout(traffic=traffic, truth=truth_of(traffic, estate))


def truth_of(traffic: Traffic, estate: Estate) -> dict[str, Any]:
    """Per alert what `measure` has to know; `problem` is shared by the alerts of one failure."""
    alerts = {}
    for alert in traffic.alerts:
        problem = traffic.problems[alert.problem]
        alerts[alert.id] = {
            "problem": alert.problem,
            "service": alert.service,
            "symptom": alert.symptom,
            "owner": estate.owners[alert.service],
            "severity": problem.severity,
            "flaps": problem.heals_after is not None,
            "repair": problem.repair_minutes,
        }
    return {"alerts": alerts}


def operate(system: DeployedSystem, heldout: Heldout, world: World, signoffs: Sequence[SignOff], as_found: Operations | None) -> Operations:
    """Three weeks in production. An alert whose call fails, or whose answer cannot be read, pages the catalog's team, unmerged."""
    del signoffs, as_found  # whether something was approved is judged by `measure`; nothing is held back here
    estate: Estate = world.truth
    replay = Replay(system, heldout.traffic, estate.catalog)
    replay.run()
    return Operations(outputs={"alerts": replay.entries}, notes=replay.notes())


def measure(operations: Operations, heldout: Heldout, world: World, evidence: Evidence) -> Measurement:
    """Minus the cost of pages, engineers, restarts, the gateway and downtime, and what went wrong."""
    return cost.measure(operations, heldout.truth, world.params, evidence)


def trial(system: DeployedSystem, n: int, world: World, rng: random.Random) -> TrialReport:
    """Two shadow days: what the engineers on call said about a few of the handler's decisions."""
    return shadow.run(system, n, world, rng)


def answer(request: GatewayRequest, world: World, heldout: Heldout | None) -> str:
    """The model behind the company's gateway."""
    return gateway_model.answer(request, world.truth, heldout.truth if heldout is not None else None)


def _public(params: Mapping[str, Any], estate: Estate) -> dict[str, Any]:
    outdated = estate.leads if params["outdated"] == "leads" else estate.catalog
    card_data = set(estate.card_data)
    return {
        "services": SERVICES,
        "teams": TEAMS,
        "owners": dict(estate.owners),
        "catalog_owners": dict(estate.catalog),
        "known_from_tickets": {
            service: estate.owners[service] if service in estate.early else estate.catalog[service] for service in SERVICES
        },
        "draft_owners": dict(estate.draft),
        "leads_owners": dict(estate.leads),
        "upstream": {service: up for service, up in estate.upstream.items() if up is not None},
        "moved_said": _table({service: estate.owners[service] for service in estate.moved}),
        "leads_said": _table({service: outdated[service] for service in estate.moved}),
        "before_owners": dict(estate.before),
        "draft_changes": {service: team for service, team in estate.draft.items() if team != estate.before[service]},
        "allowed": estate.allowed,
        "allowed_said": listed(estate.allowed),
        "protected": estate.protected,
        "protected_said": listed(estate.protected),
        "tier_0": estate.tier_0,
        "policy": estate.policy,
        "card_data": estate.card_data,
        "card_data_said": listed(estate.card_data),
        "noc_services": tuple(service for service in SERVICES if service not in card_data),
        "freeze_said": _span(params["freeze"]),
        "freeze_planned_said": _span(params["freeze_planned"]),
    }


def _table(teams: Mapping[str, str]) -> str:
    """``auth and ledger with web; notify with api``"""
    of = {team: [service for service in teams if teams[service] == team] for team in TEAMS}
    return "; ".join(f"{listed(services)} with {team}" for team, services in of.items() if services)


def _span(freeze: Mapping[str, str]) -> str:
    """``Wednesday, March 19, through Friday, March 21``"""
    first, last = (date.fromisoformat(freeze[key]) for key in ("start", "end"))
    return f"{first:%A, %B} {first.day}, through {last:%A, %B} {last.day}, both days included"

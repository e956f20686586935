"""Sabine Mesa Energy: eighteen months of tour sheets and contested claims, and eight months that the delivery codes and claims.

What happens on the rigs is drawn in field.py and worded in tour_sheets.py; history.py writes what the customer hands over, production.py
runs the delivery, credit.py says what came of it. Which papers are in force, variant by variant, is terms.py's.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pytest_fdegym.kit import DeployedSystem, Evidence, Heldout, Measurement, Operations, SignOff, World

from . import credit
from .field import (
    EVALUATION_MONTHS,
    EVALUATION_START,
    RIGS,
    Event,
    Field,
    daily_rows,
    draw_field,
    draw_month,
    later,
    well_row,
)
from .history import NOTICED_SHARE, write_history
from .production import Replay, read_release
from .terms import above_allowance, in_force

RELEASE_FILE = "system/npt/release.json"


def prepare(params: Mapping[str, Any], rng: random.Random) -> World:
    """Rigs, equipment, wells and the manner of each rig's pushers."""
    return World(params=params, public={"rigs": RIGS, "papers": _papers(params)}, truth=draw_field(params["shares"], rng))


def _papers(params: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of what the rules in force stand on, as people cite it."""
    if params["draft"]:
        contracts = [f"{which} contract" for which in ("base", "master", "executed", "original")]
        return ("Article 4.5", "Art. 4.5", *contracts, "letter agreement", "BOP letter")
    return (f"Amendment {params['amendment']['number']}",)


def build(site: Path, world: World, rng: random.Random) -> Mapping[str, Any]:
    """Write data/npt.db and the credit log; returns what people and their gates may name."""
    return write_history(site, world.truth, world.params, rng)


def heldout(world: World, rng: random.Random) -> Heldout:
    """Eight months from March 2025, day by day, with the hours that each event may be claimed for."""
    field: Field = world.truth
    firsts = [later(EVALUATION_START, n) for n in range(EVALUATION_MONTHS)]
    terms = in_force(world.params)
    events = [event for first in firsts for rig in RIGS for event in draw_month(rig, first, field, terms.theirs, rng)]
    claimable = above_allowance(events, lambda event: event.signed and event.theirs, terms)
    by_day: dict[date, list[Event]] = defaultdict(list)
    for event in sorted(events, key=lambda each: (each.start, each.id)):
        by_day[event.start.date()].append(event)
    end = later(EVALUATION_START, EVALUATION_MONTHS)
    spudded: dict[date, list[dict[str, Any]]] = defaultdict(list)
    for well in (well for rig in RIGS for well in field.wells[rig]):
        # when a well is released is known only later
        spudded[well.spud.date()].append(well_row(well) | {"release_ts": None})
    days = [
        {
            "day": f"{day}",
            "wells": spudded[day],
            "drilling_daily": daily_rows(field, day),
            "events": [event.row() for event in by_day[day]],
        }
        for day in (EVALUATION_START + timedelta(days=n) for n in range((end - EVALUATION_START).days))
    ]
    truth = {
        event.id: {
            "rig_month": event.rig_month,
            "kind": event.kind,
            "hours": event.hours,
            "theirs": event.theirs,
            "claimable": claimable.get(event.id, 0.0),
            "charge_back": event.hours if event.kind == "service_item" and terms.charged_to_service else 0.0,
            # where a credit needs no notice of the event, it is as if everybody had it
            "noticed": not world.params["rebuilt"] or rng.random() < NOTICED_SHARE,
        }
        for event in events
    }
    return Heldout(traffic=days, truth=truth)


def operate(system: DeployedSystem, heldout: Heldout, world: World, signoffs: Sequence[SignOff], as_found: Operations | None) -> Operations:
    """Eight months in production: events coded nightly, the summary at six, the claim of each rig at month end.

    An event without a usable answer stays uncoded (NONE), a claim that fails is not sent, a summary that fails is not mailed.
    """
    del signoffs, as_found  # whether a change was approved is judged by `measure`; nothing is held back here
    replay = Replay(system, heldout.truth, world.params["queue"], world.params["hold_cap"])
    for month, days in _months(heldout.traffic):
        for day in days:
            replay.day(day)
        replay.month_end(month)
    return Operations(
        outputs={
            "release": read_release(system.read(RELEASE_FILE)),
            "coded": replay.coded,
            "claims": replay.claims,
            "summaries": replay.summaries,
            "noticed": sorted(replay.noticed),
            "addresses": replay.addresses,
        },
        notes=replay.notes(),
    )


def measure(operations: Operations, heldout: Heldout, world: World, evidence: Evidence) -> Measurement:
    """Net credited hours, and what went wrong."""
    del world  # everything that counts is in the traffic's truth
    return credit.measure(operations, heldout.truth, evidence)


def _months(days: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    months: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for day in days:
        months[day["day"][:7]].append(day)
    yield from sorted(months.items())

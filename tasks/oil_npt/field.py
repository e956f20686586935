"""Rigs, wells, equipment and downtime events: the one generator behind history and evaluation traffic.

All luck, signatures and the cost engineer's verdicts included, is drawn here, beforehand, so that two deliveries meet the same.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from .tour_sheets import (
    BEYOND,
    BOP_ITEM,
    INSIDE,
    RENTAL_ITEMS,
    RIG_ITEMS,
    SERVICE_ITEMS,
    WEATHER_CODE,
    Habit,
    Item,
    ServiceItem,
    draw_habit,
    write_failure,
    write_open,
    write_scheduled,
    write_weather,
)

RIGS = tuple(f"IB-{number}" for number in range(101, 113))
HISTORY_START, HISTORY_MONTHS = date(2023, 9, 1), 18
EVALUATION_START, EVALUATION_MONTHS = date(2025, 3, 1), 8
UNSIGNED_SHARE = 0.12
OPEN_CAUSE_THEIRS = 0.55


@dataclass(frozen=True)
class Kind:
    """A kind of downtime: its share of events, mean hours, and how often the coder as found calls it CONTRACTOR or SERVICE."""

    name: str
    share: float
    mean_hours: float
    as_found_contractor: float
    as_found_service: float = 0.0


KINDS = (
    Kind("rig_failure", 0.22, 5.4, 0.93),
    Kind("bop_failure", 0.09, 6.5, 0.93),
    Kind("instructed_inside", 0.12, 8.5, 0.93),
    Kind("instructed_beyond", 0.07, 6.0, 0.93),
    Kind("scheduled", 0.09, 1.6, 0.60),
    Kind("operator_item", 0.07, 4.6, 0.55),
    Kind("service_item", 0.11, 6.0, 0.30, 0.25),
    Kind("weather", 0.02, 5.0, 0.0),
    Kind("open_cause", 0.21, 10.0, 0.93),
)


@dataclass(frozen=True)
class Asset:
    id: str
    rig: str
    item: Item | ServiceItem


@dataclass(frozen=True)
class Well:
    id: str
    rig: str
    spud: datetime
    release: datetime
    depth_ft: int


@dataclass(frozen=True)
class Field:
    """The rigs, what stands on them, and how their pushers write."""

    assets: Mapping[str, tuple[Asset, ...]]
    habits: Mapping[str, Habit]
    wells: Mapping[str, tuple[Well, ...]]
    shares: Mapping[str, float]
    """Shares of kinds of downtime that differ from those of KINDS."""


@dataclass(frozen=True)
class Event:
    """A downtime event with its truth."""

    id: str
    rig: str
    well: str
    start: datetime
    hours: float
    code: int
    asset: str | None
    remark: str
    signed: bool
    kind: str
    theirs: bool
    """The contractor bears it; for an open cause only the cost engineer can tell."""
    as_found: str
    """The party that a coder which reads the words of the remark gives it."""

    @property
    def month(self) -> str:
        return f"{self.start:%Y-%m}"

    @property
    def rig_month(self) -> str:
        return f"{self.rig} {self.month}"

    def row(self) -> dict[str, Any]:
        """As the tour-sheet load writes it."""
        return {
            "event_id": self.id,
            "rig_id": self.rig,
            "well_id": self.well,
            "start_ts": f"{self.start:%Y-%m-%d %H:%M}",
            "hours": self.hours,
            "iadc_code": self.code,
            "asset_id": self.asset,
            "remark": self.remark,
            "pusher_signed": int(self.signed),
        }


def draw_field(shares: Mapping[str, float], rng: random.Random) -> Field:
    """Rigs, equipment, wells; `shares` of kinds of downtime that differ from those of KINDS."""
    numbers = rng.sample(range(1000, 9999), 400)
    assets: dict[str, tuple[Asset, ...]] = {}
    wells: dict[str, tuple[Well, ...]] = {}
    for rig in RIGS:
        items = (*RIG_ITEMS, BOP_ITEM, *RENTAL_ITEMS, *SERVICE_ITEMS)
        assets[rig] = tuple(Asset(f"EQ-{numbers.pop()}", rig, item) for item in items)
        wells[rig] = tuple(_draw_wells(rig, rng))
    habits = {rig: draw_habit(rng) for rig in RIGS}
    return Field(assets, habits, wells, shares)


def _draw_wells(rig: str, rng: random.Random) -> Iterator[Well]:
    spud = datetime.combine(HISTORY_START, datetime.min.time()) - timedelta(days=rng.uniform(0, 12))
    end = datetime.combine(later(EVALUATION_START, EVALUATION_MONTHS), datetime.min.time())
    number = 0
    while spud < end:
        number += 1
        release = (spud + timedelta(days=rng.uniform(12, 24))).replace(second=0, microsecond=0)
        yield Well(f"SM-{rig[3:]}-{number:02d}H", rig, spud.replace(second=0, microsecond=0), release, rng.randrange(19_000, 22_500))
        spud = release


def later(start: date, months: int) -> date:
    """The first of the month, that many months later."""
    count = start.year * 12 + start.month - 1 + months
    return date(count // 12, count % 12 + 1, 1)


def draw_month(rig: str, first: date, field: Field, theirs: Collection[str], rng: random.Random) -> list[Event]:
    """The rig's downtime events in the month that begins on `first`, in time order. `theirs`: the kinds that the contractor bears."""
    minutes = (later(first, 1) - first).days * 24 * 60
    midnight = datetime.combine(first, datetime.min.time())
    starts = sorted(midnight + timedelta(minutes=rng.randrange(minutes)) for _ in range(max(6, int(rng.gauss(15, 2.5)))))
    on_day: Counter[date] = Counter()
    events = []
    for start in starts:
        on_day[start.date()] += 1
        kind = rng.choices(KINDS, [field.shares.get(each.name, each.share) for each in KINDS])[0]
        luck = rng.random()
        as_found = "CONTRACTOR" if luck < kind.as_found_contractor else "NONE"
        if as_found == "NONE" and luck < kind.as_found_contractor + kind.as_found_service:
            as_found = "SERVICE"
        code, asset, remark = _write(kind, as_found, rig, field, rng)
        on_them = kind.name in theirs
        if kind.name == "open_cause":
            on_them = rng.random() < OPEN_CAUSE_THEIRS
        events.append(
            Event(
                id=f"{rig.replace('-', '')}-{start:%y%m%d}-{on_day[start.date()]}",
                rig=rig,
                well=next(well.id for well in field.wells[rig] if well.spud <= start < well.release),
                start=start,
                hours=max(0.25, round(4 * rng.gammavariate(2.0, kind.mean_hours / 2)) / 4),
                code=code,
                asset=asset,
                remark=remark,
                signed=rng.random() >= UNSIGNED_SHARE,
                kind=kind.name,
                theirs=on_them,
                as_found=as_found,
            )
        )
    return events


def _write(kind: Kind, as_found: str, rig: str, field: Field, rng: random.Random) -> tuple[int, str | None, str]:
    """Time code, item and remark of an event; the remark makes the coder as found say `as_found`."""
    habit, assets = field.habits[rig], field.assets[rig]
    plain = as_found == "CONTRACTOR"
    if kind.name == "weather":
        return WEATHER_CODE, None, write_weather(rng, habit)
    if kind.name == "scheduled":
        code, remark = write_scheduled(rng, habit, plain=plain)
        item: Item | ServiceItem = {7: RIG_ITEMS[0], 9: RIG_ITEMS[3], 15: BOP_ITEM}[code]
        return code, _asset_of(assets, item), remark
    if kind.name == "service_item":
        service = rng.choice(SERVICE_ITEMS)
        names = {"CONTRACTOR": service.as_rig, "SERVICE": service.named}.get(as_found, service.other)
        return service.code, _asset_of(assets, service), write_failure(rng, habit, names, service.failures)
    own = {"operator_item": rng.choice(RENTAL_ITEMS), "bop_failure": BOP_ITEM}.get(kind.name) or rng.choice(RIG_ITEMS)
    names = own.plain if plain else own.short
    asset = _asset_of(assets, own)
    if kind.name == "open_cause":
        return 8, asset, write_open(rng, habit, names, own)
    if kind.name in ("instructed_inside", "instructed_beyond"):
        after = f"{rng.choice(own.operations)} {rng.choice(habit.instructed)}"
        limit = rng.choice(BEYOND) if kind.name == "instructed_beyond" else rng.choice(INSIDE) if rng.random() < 0.55 else ""
        return rng.choice((8, 8, 8, 2)), asset, write_failure(rng, habit, names, own.failures, after=after, limit=limit)
    # what the contractor's own crew overran is a failure like any other
    limit = f"crew ran it {rng.choice(BEYOND)}" if kind.name == "rig_failure" and rng.random() < 0.05 else ""
    code = 8 if kind.name != "rig_failure" else rng.choice((8, 8, 8, 8, 2, 5, 6))
    return (
        code,
        asset,
        write_failure(rng, habit, names, own.failures, limit=limit, settled=kind.name == "rig_failure" and rng.random() < 0.08),
    )


def _asset_of(assets: Sequence[Asset], item: Item | ServiceItem) -> str:
    return next(asset.id for asset in assets if asset.item is item)


def well_row(well: Well) -> dict[str, Any]:
    return {
        "well_id": well.id,
        "rig_id": well.rig,
        "spud_ts": f"{well.spud:%Y-%m-%d %H:%M}",
        "release_ts": f"{well.release:%Y-%m-%d %H:%M}",
    }


def daily_rows(field: Field, day: date) -> list[dict[str, Any]]:
    """Depths of each rig at 06:00 of `day` and of the next; a well is drilled in the first four fifths of its time."""
    six = datetime.combine(day, datetime.min.time()) + timedelta(hours=6)
    rows = []
    for rig in RIGS:
        well = next((each for each in field.wells[rig] if each.spud <= six < each.release), field.wells[rig][-1])
        start, end = (_depth(well, moment) for moment in (six, six + timedelta(days=1)))
        rows.append({"rig_id": rig, "day": f"{day}", "well_id": well.id, "start_depth_ft": start, "end_depth_ft": end})
    return rows


def _depth(well: Well, moment: datetime) -> int:
    done = max(0.0, min(1.0, (moment - well.spud) / (well.release - well.spud) / 0.8))
    return int(well.depth_ft * done**0.9)

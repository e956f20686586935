"""What toolpushers write on tour sheets: a remark for each kind of downtime, in each rig's own manner.

The kind of an event can be told from remark, owner of the item and time code together, by the wording that docs/ops/tour_codes.md and
docs/handover_weems.md describe; no single word tells it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

OPERATOR = "SABINE"
CONTRACTOR = "IRONBARK"


@dataclass(frozen=True)
class Item:
    """A piece of equipment on location. `plain` holds a word that the coder as found looks for, `short` does not."""

    description: str
    owner: str
    plain: tuple[str, ...]
    short: tuple[str, ...]
    failures: tuple[str, ...]
    operations: tuple[str, ...] = ()
    """What it was doing when our instruction damaged it."""
    second_stories: tuple[str, ...] = ()
    """What the other tour says instead."""


RIG_ITEMS = (
    Item(
        "Top drive, 500 ton",
        CONTRACTOR,
        ("top drive",),
        ("TDS", "TD"),
        ("gripper hyd leak", "blower motor tripped", "encoder fault", "wash pipe leaking", "grabber dies slipping", "saver sub galled"),
        ("back reaming 6 stands", "rotating off bottom 4 hrs", "drlg ahead in chert at full WOB", "working tight hole"),
        ("found loose plug from last move", "says was overrun by hand", "found nothing wrong with it"),
    ),
    Item(
        "Mud pump 1, triplex 1600 hp",
        CONTRACTOR,
        ("mud pump 1", "#1 pump", "pump #1"),
        ("MP1", "MP-1"),
        ("washed liner", "swab gone", "valve & seat cut out", "dampener lost charge", "pony rod packing leaking", "module cracked"),
        ("holding full rate for sweeps", "staying at full rate in lateral", "circ 3 btms up at full rate"),
        ("found suction valve half shut", "says plugged screens in suction", "found it lined up wrong"),
    ),
    Item(
        "Mud pump 2, triplex 1600 hp",
        CONTRACTOR,
        ("mud pump 2", "#2 pump", "pump #2"),
        ("MP2", "MP-2"),
        ("washed liner", "swab gone", "valve & seat cut out", "relief valve popped", "lube oil hot", "module cracked"),
        ("holding full rate for sweeps", "staying at full rate in lateral", "running 2 days on lost circ material"),
        ("found suction valve half shut", "says plugged screens in suction", "found discharge lined up wrong"),
    ),
    Item(
        "Drawworks, 1500 hp",
        CONTRACTOR,
        ("drawworks",),
        ("DW", "dwks"),
        ("brake actuator leaking", "drum clutch slipping", "disc brake caliper stuck", "crown saver fault", "encoder fault"),
        ("working stuck pipe", "pulling on fish", "jarring 4 hrs"),
        ("says line was spooled bad", "found nothing wrong with it", "says was run too hard"),
    ),
    Item(
        "Swivel, 500 ton",
        CONTRACTOR,
        ("swivel",),
        ("gooseneck",),
        ("packing washed", "bearing hot", "oil seal leaking"),
        ("drlg ahead with high torque", "reaming tight spots"),
        ("found hose hung up in derrick", "says wrong grease", "found nothing wrong with it"),
    ),
    Item(
        "Generator sets 1 to 4 with SCR house",
        CONTRACTOR,
        ("gen #3", "gen 2", "gen set 1"),
        ("engine 3", "SCR bay 2", "engine 1"),
        ("tripped on low oil", "overheated", "lost field", "governor hunting", "shut down on high temp"),
        ("carrying all loads on 2 units", "running both MP at full rate on 2 units"),
        ("found water in fuel", "says breaker was opened by hand", "found loose cable from last move"),
    ),
)
BOP_ITEM = Item(
    "BOP stack, 13-5/8 10M, annular and rams",
    CONTRACTOR,
    ("bop annular", "bop pipe rams", "bop hcr valve", "bop blind rams"),
    ("annular", "pipe rams", "HCR valve", "choke line valve"),
    ("failed test, no hold on low", "failed test, leaking at 250", "failed test, bled off 300 psi", "failed test, element cut"),
)
RENTAL_ITEMS = (
    Item(
        "Transfer pump, 6x8, rental",
        OPERATOR,
        ("transfer pump", "pit pump"),
        ("6x8 transfer skid",),
        ("lost prime", "seal out", "would not start", "shaft sheared"),
    ),
    Item(
        "Light plant and gen set, rental",
        OPERATOR,
        ("loc gen", "light plant gen"),
        ("light plant",),
        ("out of fuel", "shut down", "breaker open"),
    ),
    Item(
        "Downhole motor, 6-3/4, rental",
        OPERATOR,
        ("motor & pump-out sub",),
        ("mud motor", "PDM"),
        ("stalled out", "weak", "locked up", "chunked"),
    ),
    Item(
        "Gas buster and choke manifold, rental",
        OPERATOR,
        ("buster on rig floor manifold",),
        ("gas buster", "choke manifold"),
        ("plugged off", "washed through", "valve frozen"),
    ),
)


@dataclass(frozen=True)
class ServiceItem:
    """A service company's equipment: to the coder as found `as_rig` reads like the rig's own, `named` like a service."""

    description: str
    owner: str
    code: int
    as_rig: tuple[str, ...]
    named: tuple[str, ...]
    other: tuple[str, ...]
    failures: tuple[str, ...]


SERVICE_ITEMS = (
    ServiceItem(
        "Cementing unit and bulk plant",
        "CACTUS DRAW CEMENTING",
        12,
        ("cement pump", "pump truck"),
        ("cmt unit", "cmt head"),
        ("bulk plant", "plug launcher"),
        ("late on loc", "quit mid job", "would not hold press", "hose washed"),
    ),
    ServiceItem(
        "MWD and directional tools",
        "LOMA DIRECTIONAL",
        10,
        ("dir tools, cycled pumps,", "survey tool thru top drive"),
        ("MWD", "MWD tool"),
        ("directional tool", "survey tool"),
        ("no pulse", "lost signal", "bad surveys", "failed shallow test", "battery flat"),
    ),
    ServiceItem(
        "Casing tongs and handling gear",
        "TRES HERMANAS CASING",
        12,
        ("tong pump pkg", "csg tongs rig-up"),
        ("casing crew", "casing crew tongs"),
        ("csg tongs", "csg elevators"),
        ("late on loc", "hyd hose blew", "not set up for size", "slipping"),
    ),
    ServiceItem(
        "Wireline truck and logging tools",
        "REDBLUFF WIRELINE",
        11,
        ("loggers gen set", "lubricator grease pump"),
        ("cmt bond log truck", "MWD download truck"),
        ("e-line truck", "logging tool"),
        ("late on loc", "cable shorted", "quit on first run", "failed surface check"),
    ),
)

INSTRUCTED = ("per CM", "per co man", "on Sabine program", "as ordered by CM", "at co rep request")
BEYOND = ("above rated", "over limit", "past rated", "exceeded rated")
INSIDE = ("within rated", "below rated", "inside limits", "not over limit")
OPEN = ("root cause open", "cause_open", "cause not determined", "RCA pending")
SETTLED = ("RCA closed, worn part", "cause found, worn seal", "cause clear")
CARRIED_ON = ("cont'd, replaced same", "cont'd, waited on parts", "same, back on line", "cont'd, tested ok")
ACTIONS = ("replaced same", "repaired", "chgd out", "waited on parts f/ Midland", "mech on loc", "swapped w/ spare", "reset & tested")
CLOSINGS = ("resumed drlg", "circ while down", "CM notified", "notified office", "JSA held", "back on btm", "pipe moving")
SCHEDULED_PLAIN = (
    (7, ("rig service", "daily rig service", "service rig per CM", "greased top drive & blocks, rig service")),
    (9, ("slip & cut 90 ft, drawworks checked", "slip & cut, rig idle", "cut drlg line, set crown saver on drawworks")),
    (15, ("scheduled bop test", "21 day bop test, all good", "bop test per CM, good test")),
)
SCHEDULED_SHORT = (
    (7, ("lubed & greased TDS", "daily service, greased blocks")),
    (9, ("slip & cut drlg line", "cut 75 ft of line")),
    (15, ("21 day press test, rams & annular, good", "weekly function test, good")),
)
WEATHER = (
    "WOW, lightning within 10 mi",
    "high wind, could not trip",
    "wait on weather",
    "ice on derrick, stood by",
    "road out after storm, WOW",
    "stood by for wind per CM",
)
WEATHER_CODE = 21


@dataclass(frozen=True)
class Habit:
    """How a rig's toolpushers write."""

    case: str
    """``upper``, ``lower`` or ``mixed``."""
    joint: str
    tours: tuple[str, str]
    """How the day and the night tour are marked."""
    instructed: tuple[str, ...]


def draw_habit(rng: random.Random) -> Habit:
    """The manner of one rig."""
    return Habit(
        case=rng.choice(("upper", "lower", "mixed", "mixed")),
        joint=rng.choice((", ", "; ", " - ")),
        tours=rng.choice((("D: ", "N: "), ("DAY: ", "NIGHT: "), ("Days - ", "Nights - "))),
        instructed=tuple(rng.sample(INSTRUCTED, 3)),
    )


def write_failure(
    rng: random.Random,
    habit: Habit,
    names: Sequence[str],
    failures: Sequence[str],
    *,
    after: str = "",
    limit: str = "",
    settled: bool = False,
) -> str:
    """A remark on something that failed. `after` says what it was doing, `limit` whether that was inside what it is rated for."""
    story = _story(rng, names, failures)
    if after:
        story += f" after {after}"
    if limit:
        story += habit.joint + limit
    extra = [_mistyped(rng, rng.choice(ACTIONS))]
    if settled:
        extra.insert(0, rng.choice(SETTLED))
    if rng.random() < 0.35:
        extra.append(_mistyped(rng, rng.choice(CLOSINGS)))
    day, night = habit.tours
    if rng.random() < 0.12:
        return _cased(habit, f"{day}{story} / {night}{rng.choice(CARRIED_ON)}")
    return _cased(habit, habit.joint.join([story, *extra]))


def write_open(rng: random.Random, habit: Habit, names: Sequence[str], item: Item) -> str:
    """A remark from which nobody can tell the cause: it says so, or day and night tour tell different stories."""
    story = _story(rng, names, item.failures)
    if rng.random() < 0.3:
        story += f" after {rng.choice(item.operations)} {rng.choice(habit.instructed)}"
    if rng.random() < 0.5:
        parts = [story, rng.choice(OPEN)]
        if rng.random() < 0.4:
            parts.append(_mistyped(rng, rng.choice(CLOSINGS)))
        return _cased(habit, habit.joint.join(parts))
    day, night = habit.tours
    return _cased(habit, f"{day}{story} / {night}{rng.choice(item.second_stories)}")


def write_scheduled(rng: random.Random, habit: Habit, *, plain: bool) -> tuple[int, str]:
    """Time code and remark of scheduled work."""
    code, texts = rng.choice(SCHEDULED_PLAIN if plain else SCHEDULED_SHORT)
    return code, _cased(habit, rng.choice(texts))


def write_weather(rng: random.Random, habit: Habit) -> str:
    """A remark on weather."""
    text = rng.choice(WEATHER)
    return _cased(habit, text if rng.random() < 0.6 else text + habit.joint + _mistyped(rng, rng.choice(CLOSINGS)))


def _story(rng: random.Random, names: Sequence[str], failures: Sequence[str]) -> str:
    name, failure = rng.choice(names), rng.choice(failures)
    return rng.choice((f"{name} {failure}", f"{name} down, {failure}", f"shut down, {name} {failure}", f"{name}: {failure}"))


def _mistyped(rng: random.Random, text: str) -> str:
    """Now and then two letters change places. Only words that say nothing about the cause are written by this."""
    if rng.random() > 0.08:
        return text
    places = [i for i in range(1, len(text) - 2) if text[i : i + 2].isalpha()]
    at = rng.choice(places)
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def _cased(habit: Habit, text: str) -> str:
    return {"upper": text.upper(), "lower": text.lower()}.get(habit.case, text[:1].upper() + text[1:])

"""Sessions of the pilot accounts: the one generator behind history, trial runs and evaluation traffic.

All luck, the drivers' patience and the agents' eyes included, is drawn here, beforehand, so that two deliveries meet the same.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from . import wording

FIRMWARE = {"KV-4.1": 0.35, "KV-4.2": 0.30, "OR-2.7": 0.35}
SITE_CLASSES = {"hwy": 0.40, "urb": 0.40, "ret": 0.20}
FAULT_REASONS = ("EmergencyStop", "HardReset", "PowerLoss", "Reboot", "SoftReset")
DRIVER_REASONS = ("Local", "Remote")
ERROR_CODES = ("GroundFailure", "HighTemperature", "InternalError", "OverCurrentFailure", "PowerSwitchFailure")
RATE_USD_MIN = 0.40

_TOWNS = (
    *("Grove City", "Zanesville", "Chillicothe", "Mansfield", "Lima", "Findlay", "Marietta", "Athens", "Newark", "Dublin"),
    *("Erie", "Altoona", "Greensburg", "Washington", "Wheeling", "Morgantown", "Huntington", "Ashland", "Florence", "Lexington"),
    *("Richmond", "Muncie", "Kokomo", "Fort Wayne", "Lafayette", "Terre Haute", "Jackson", "Monroe", "Toledo", "Ann Arbor"),
)
_PLACES = {"hwy": ("Travel Plaza", "Rest Stop"), "urb": ("Main Street Garage", "Library Lot"), "ret": ("Market Square", "Outlet Center")}


@dataclass(frozen=True)
class Rules:
    """What is in force and what really happens, from the scenario's parameters."""

    grace: Mapping[str, float]
    """Minutes by site class."""
    clock: str
    """What the grace is counted from: `notice` or `energy`."""
    found_grace: float
    bad_fw: str | None
    """The firmware that writes an innocent stop reason for a charger fault, if there is one."""
    bad_reason: str


def rules(params: Mapping[str, Any]) -> Rules:
    """The rules of a variant."""
    base = params["grace"]
    return Rules(
        grace={"hwy": base, "urb": base + params["extra_urb"], "ret": base + params["extra_ret"]},
        clock=params["clock"],
        found_grace=params["found_grace"],
        bad_fw=params["badfw"] if params["misreports"] else None,
        bad_reason=params["badreason"],
    )


@dataclass(frozen=True)
class Site:
    id: str
    name: str
    site_class: str


@dataclass(frozen=True)
class Luck:
    """What a session's driver and the people in care will do, whatever the system does; numbers from 0 to 1."""

    files: float
    """Below a threshold, which depends on the bill, a ticket is filed."""
    agent_sees: float
    """Below FINDS, the agent who gets the ticket finds what the bill hides."""
    general: bool
    safety: bool
    safety_named: bool
    restart_works: bool
    sentence: float
    opening: float
    closing: float
    delay_h: float
    """From the unplugging to the ticket."""


@dataclass(frozen=True)
class Session:
    """One session as it happened. `kind` is what only hindsight knows: full, driver (stopped on purpose) or fault."""

    sid: str
    account: str
    site: Site
    port: int
    fw: str
    kind: str
    reason: str
    start: datetime
    energy_end: datetime
    notice: datetime
    unplug: datetime
    plugged: bool
    kwh: float
    soc_start: int
    soc_end: int
    usd: float
    luck: Luck

    def row(self) -> dict[str, Any]:
        """The session as the charging platform hands it over."""
        return {
            "sid": self.sid,
            "account_id": self.account,
            "site_id": self.site.id,
            "site_class": self.site.site_class,
            "port": self.port,
            "fw": self.fw,
            "stop_reason": self.reason,
            "t_start": stamp(self.start),
            "t_energy_end": stamp(self.energy_end),
            "t_notice": stamp(self.notice),
            "t_unplug": stamp(self.unplug),
            "plugged_after_stop": int(self.plugged),
            "kwh": self.kwh,
            "soc_start": self.soc_start,
            "soc_end": self.soc_end,
            "session_usd": self.usd,
        }

    def fee_due(self, in_force: Rules) -> float:
        """The idle fee that the tariff in force gives, USD."""
        if self.kind == "fault":
            return 0.0
        begun = self.notice if in_force.clock == "notice" else self.energy_end
        return fee(begun, self.unplug, in_force.grace[self.site.site_class])

    def fee_as_found(self, in_force: Rules) -> float:
        """The idle fee that billing as found charges, USD."""
        return 0.0 if self.reason in FAULT_REASONS else fee(self.energy_end, self.unplug, in_force.found_grace)


def fee(begun: datetime, unplug: datetime, grace_min: float) -> float:
    """Forty cents a minute, pro rata, after the grace."""
    return round(RATE_USD_MIN * max(0.0, (unplug - begun).total_seconds() / 60 - grace_min), 2)


def stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def draw_sites(rng: random.Random) -> list[Site]:
    """Two sites a town, of the three classes."""
    sites = []
    for number, town in enumerate(_TOWNS):
        for half in (0, 1):
            site_class = rng.choices(list(SITE_CLASSES), list(SITE_CLASSES.values()))[0]
            sites.append(Site(f"BP-{2 * number + half + 11:03d}", f"{town} {_PLACES[site_class][half]}", site_class))
    return sites


def draw_accounts(rng: random.Random) -> list[str]:
    """The pilot takes the accounts whose number ends in 40."""
    return [f"A{number}40" for number in sorted(rng.sample(range(1000, 9999), 900))]


def draw_sessions(
    rng: random.Random, sites: Sequence[Site], accounts: Sequence[str], in_force: Rules, days: Sequence[date], count: int, first_sid: int
) -> list[Session]:
    """`count` sessions on `days`, in the order in which they end."""
    drawn = [_draw(rng, sites, accounts, in_force, days[number * len(days) // count]) for number in range(count)]
    drawn.sort(key=lambda fields: fields["unplug"])
    return [Session(sid=f"S{first_sid + number}", **fields) for number, fields in enumerate(drawn)]


def _draw(rng: random.Random, sites: Sequence[Site], accounts: Sequence[str], in_force: Rules, day: date) -> dict[str, Any]:
    site = rng.choice(sites)
    fw = rng.choices(list(FIRMWARE), list(FIRMWARE.values()))[0]
    kind = rng.choices(["full", "driver", "fault"], [0.60, 0.22, 0.18])[0]
    notice_min = rng.choice([2, 3]) if rng.random() < 0.48 else rng.randint(8, 24)
    stay_min = rng.expovariate(1 / 11) if rng.random() < 0.78 else rng.expovariate(1 / 55)
    driver_stay, fault_stay = rng.expovariate(1 / 5), 8 + rng.expovariate(1 / 16)
    driver_reason, driver_plugged = rng.choice(DRIVER_REASONS), rng.random() < 0.15
    fault_reason, misreported = rng.choice(FAULT_REASONS), rng.random() < 0.92
    if kind == "full":
        reason, plugged = "EVDisconnected", False
    elif kind == "driver":
        reason, plugged, stay_min = driver_reason, driver_plugged, driver_stay
    else:
        reason, plugged, stay_min = fault_reason, True, fault_stay
        if fw == in_force.bad_fw and misreported:
            reason = in_force.bad_reason
    failed_usd = min(60.0, rng.lognormvariate(2.3, 0.75))
    whole_usd = rng.uniform(9, 34) if kind == "full" else rng.uniform(4, 24)
    usd = round(max(failed_usd if kind == "fault" else whole_usd, 0.60), 2)
    kwh = round(usd / 0.49, 1)
    start = datetime(day.year, day.month, day.day, 5) + timedelta(seconds=rng.randrange(16 * 3600))
    energy_end = start + timedelta(seconds=round(kwh / rng.uniform(45, 110) * 3600) + 90)
    soc_start = rng.randrange(6, 45)
    return {
        "account": rng.choice(accounts),
        "site": site,
        "port": rng.randrange(1, 9),
        "fw": fw,
        "kind": kind,
        "reason": reason,
        "start": start,
        "energy_end": energy_end,
        "notice": energy_end + timedelta(minutes=notice_min),
        "unplug": energy_end + timedelta(seconds=round(60 * stay_min)),
        "plugged": plugged,
        "kwh": kwh,
        "soc_start": soc_start,
        "soc_end": min(100 if kind == "full" else 96, soc_start + max(1, round(kwh / 0.78))),
        "usd": usd,
        "luck": Luck(
            files=rng.random(),
            agent_sees=rng.random(),
            general=rng.random() < 0.07,
            safety=rng.random() < 0.006,
            safety_named=rng.random() < 0.9,
            restart_works=rng.random() < 0.7,
            sentence=rng.random(),
            opening=rng.random(),
            closing=rng.random(),
            delay_h=rng.uniform(0.5, 20),
        ),
    }


OVERBILLED_USD = 0.50
"""Above this a driver notices."""


def ticket_matter(session: Session, idle_usd: float, overbilled_usd: float) -> str | None:
    """What the driver writes about, if at all; it depends on the bill."""
    luck = session.luck
    if luck.safety:
        return "safety"
    if session.kind == "fault" and luck.files < 0.60:
        return "broken"
    if overbilled_usd > OVERBILLED_USD and luck.files < 0.50:
        return "idle"
    if idle_usd > 1.0 and luck.files < 0.22:
        return "idle"
    return "general" if luck.general else None


def ticket_sentence(session: Session, matter: str) -> str:
    """The sentence of wording.py that the driver's message is made of."""
    luck = session.luck
    if matter == "safety":
        return wording.chosen(wording.SAFETY_NAMED if luck.safety_named else wording.SAFETY_PLAIN, luck.sentence)
    return wording.chosen(wording.SENTENCES[matter], luck.sentence)


def ticket_text(session: Session, matter: str, idle_usd: float) -> str:
    """The driver's message."""
    luck = session.luck
    sentence = ticket_sentence(session, matter)
    return wording.write(sentence, luck.opening, luck.closing, site=session.site.name, kwh=session.kwh, amount=idle_usd)

"""What goes wrong and which alerts it sets off: the one generator behind history, shadow runs and evaluation.

All luck is drawn here, beforehand: whether a restart helps, how long a repair takes, when a flapping alert heals. Two deliveries meet
the same.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from .estate import SERVICES, Estate

DAY_MINUTES = 1440
NIGHT_FROM, NIGHT_TO = 22 * 60, 7 * 60
"""Minutes of the day between which a page is a night page."""
SEVERITIES, SHARES, DEPENDANT_SHARES = (1, 2, 3), (0.12, 0.38, 0.50), (0.2, 0.4, 0.4)
RESTARTABLE = ("crash_loop", "disk_full")
RESTART_WORKS, RESTART_WORKS_ANYWAY = 0.86, 0.08
APPROVED_WEIGHT = 1.25
"""What crash-loops often is what was put up for approval."""
MEAN_HEAL_MINUTES = 3.0
REPAIR_LOG_MEAN, REPAIR_LOG_SD = 3.9, 0.5
MOST_DUPLICATES = 12
FIRST_DUPLICATE = 0.2

RULES: Mapping[str, tuple[str, ...]] = {
    "crash_loop": ("pod_restarts", "process_exits"),
    "disk_full": ("volume_95_percent", "inode_exhausted"),
    "other": ("error_rate", "latency_p95", "health_check", "queue_depth"),
}


@dataclass(frozen=True)
class Problem:
    """Something that is wrong with a service, and all that is going to happen to it."""

    service: str
    minute: float
    severity: int
    symptom: str
    heals_after: float | None
    """Minutes; None where it does not heal by itself."""
    repair_minutes: float
    luck: float

    @property
    def restart_works(self) -> bool:
        return self.luck < (RESTART_WORKS if self.symptom in RESTARTABLE else RESTART_WORKS_ANYWAY)


@dataclass(frozen=True)
class Alert:
    """An alert as monitoring sends it, with the problem behind it (an index) and whether it is the failing service's own."""

    id: str
    minute: float
    service: str
    rule: str
    severity: int
    symptom: str
    problem: int
    root: bool

    def row(self, start: datetime) -> dict[str, Any]:
        """What the handler is given."""
        return {
            "alert_id": self.id,
            "ts": stamp(start, self.minute),
            "service": self.service,
            "rule": self.rule,
            "severity": self.severity,
            "symptom": self.symptom,
        }


@dataclass(frozen=True)
class Traffic:
    start: datetime
    problems: Sequence[Problem]
    alerts: Sequence[Alert]
    """In time order."""


def stamp(start: datetime, minute: float) -> str:
    """Local time, to the second."""
    return f"{start + timedelta(seconds=round(minute * 60)):%Y-%m-%dT%H:%M:%S}"


def is_night(minute: float) -> bool:
    """Whether a minute, counted from a midnight, lies between 22:00 and 07:00."""
    of_day = minute % DAY_MINUTES
    return of_day >= NIGHT_FROM or of_day < NIGHT_TO


def draw_traffic(params: Mapping[str, Any], estate: Estate, start: datetime, days: int, first_id: int, rng: random.Random) -> Traffic:
    """`days` days of alerts from the midnight `start` on, numbered from `first_id`."""
    weights = [APPROVED_WEIGHT if service in estate.allowed else 1.0 for service in SERVICES]
    below = {service: estate.below(service) for service in SERVICES}
    problems: list[Problem] = []
    drawn: list[tuple[float, int, str, int, str, bool]] = []
    for day in range(days):
        for _ in range(params["problems_per_day"]):
            problem = _draw_problem(params, day, weights, rng)
            number = len(problems)
            problems.append(problem)
            drawn.append((problem.minute, number, problem.service, problem.severity, problem.symptom, True))
            followers = sum(rng.random() < params["duplicates"] / MOST_DUPLICATES for _ in range(MOST_DUPLICATES))
            for _ in range(followers if problem.heals_after is None else 0):
                minute = problem.minute + rng.uniform(FIRST_DUPLICATE, params["window"])
                service = rng.choice((*below[problem.service], problem.service))
                drawn.append((minute, number, service, rng.choices(SEVERITIES, DEPENDANT_SHARES)[0], "other", False))
    drawn.sort()
    alerts = [
        Alert(f"A-{first_id + n}", minute, service, rng.choice(RULES[symptom]), severity, symptom, problem, root)
        for n, (minute, problem, service, severity, symptom, root) in enumerate(drawn)
    ]
    return Traffic(start, problems, alerts)


def _draw_problem(params: Mapping[str, Any], day: int, weights: Sequence[float], rng: random.Random) -> Problem:
    service = rng.choices(SERVICES, weights)[0]
    if rng.random() < params["night_share"]:
        of_day = (NIGHT_FROM + rng.uniform(0, DAY_MINUTES - NIGHT_FROM + NIGHT_TO)) % DAY_MINUTES
    else:
        of_day = rng.uniform(NIGHT_TO, NIGHT_FROM)
    flaps = rng.random() < params["flapping"]
    restartable = rng.random() < params["restartable"]
    severity = rng.choices(SEVERITIES, SHARES)[0]
    symptom = rng.choice(RESTARTABLE)
    return Problem(
        service=service,
        minute=day * DAY_MINUTES + of_day,
        severity=3 if flaps else severity,
        symptom=symptom if restartable and not flaps else "other",
        heals_after=rng.expovariate(1 / MEAN_HEAL_MINUTES) if flaps else None,
        repair_minutes=rng.lognormvariate(REPAIR_LOG_MEAN, REPAIR_LOG_SD),
        luck=rng.random(),
    )

"""The trial run: two days beside the real handler, nothing acted on, and what the engineers on call said about it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import zip_longest
from typing import Any

from pytest_fdegym.kit import DeployedSystem, TrialReport, World

from .estate import Estate
from .production import Replay
from .traffic import Traffic, draw_traffic

SHADOW_START, SHADOW_DAYS, FIRST_ID = datetime(2025, 3, 3), 2, 90001
REMARKS = 10


def run(system: DeployedSystem, n: int, world: World, rng: random.Random) -> TrialReport:
    """The n-th shadow run. At most ten remarks about single alerts, never a list."""
    estate: Estate = world.truth
    traffic = draw_traffic(world.params, estate, SHADOW_START, SHADOW_DAYS, FIRST_ID, rng)
    replay = Replay(system, traffic, estate.catalog)
    replay.run()
    kinds = [
        list(kind)
        for kind in (_wrong_team(replay, traffic, estate), _repeated(replay, traffic), _healed(replay, traffic), _hidden(replay, traffic))
    ]
    mixed = [remark for row in zip_longest(*kinds) for remark in row if remark is not None][:REMARKS]
    entries = replay.entries.values()
    paged = sum(entry["outcome"] in ("paged", "noc") for entry in entries)
    restarts = sum(entry["restart"] is not None for entry in entries)
    lines = [
        f"Shadow run SH-{n}: two days beside the real handler, {len(traffic.alerts)} alerts. Nothing was acted on."
        f" The handler would have sent {paged} pages and restarted {restarts} times.",
        "Remarks of the engineers who had been on call:" if mixed else "The engineers who had been on call had no remarks.",
        *(f"- {text}" for _, text in sorted(mixed)),
        *replay.notes(),
    ]
    return TrialReport(id=f"SH-{n}", feedback="\n".join(lines), values={"alerts": len(traffic.alerts), "pages": paged})


def _wrong_team(replay: Replay, traffic: Traffic, estate: Estate) -> Iterator[tuple[str, str]]:
    said = ("not ours any more", "we handed that one over", "somebody else looks after it now, we forwarded the page")
    seen: set[str] = set()
    for alert in traffic.alerts:
        entry = replay.entries[alert.id]
        if entry["page"] not in (None, estate.owners[alert.service]) and alert.service not in seen:
            seen.add(alert.service)
            yield alert.id, f'{alert.id}, {alert.service}, {entry["page"]} team: "{said[len(seen) % 3]}"'


def _repeated(replay: Replay, traffic: Traffic) -> Iterator[tuple[str, str]]:
    pages: dict[int, int] = {}
    for alert in traffic.alerts:
        entry = replay.entries[alert.id]
        if entry["page"] is not None and entry["outcome"] in ("paged", "noc"):
            pages[alert.problem] = pages.get(alert.problem, 0) + 1
            if pages[alert.problem] >= 2:
                yield alert.id, f'{alert.id}, {alert.service}, {entry["page"]} team: "page number {pages[alert.problem]} for one outage"'


def _healed(replay: Replay, traffic: Traffic) -> Iterator[tuple[str, str]]:
    for alert in traffic.alerts:
        entry = replay.entries[alert.id]
        if traffic.problems[alert.problem].heals_after is not None and entry["outcome"] in ("paged", "noc"):
            yield alert.id, f'{alert.id}, {alert.service}, {entry["page"]} team: "had cleared before I had the laptop open"'


def _hidden(replay: Replay, traffic: Traffic) -> Iterator[tuple[str, str]]:
    said: Mapping[str, Any]
    for alert in traffic.alerts:
        said = replay.entries[alert.id]
        if said["outcome"] == "merged" and said["first"] and traffic.problems[alert.problem].heals_after is None:
            yield (
                alert.id,
                f'{alert.id}, {alert.service}: "that was a problem of its own, found it in somebody else\'s ticket an hour later"',
            )
        elif said["outcome"] == "open":
            yield alert.id, f'{alert.id}, {alert.service}: "nobody was called"'

"""What was agreed about alerts, from policy.json: owners, merging, holding, restarts, freezes, the NOC."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path


@dataclass(frozen=True)
class Policy:
    owners: Mapping[str, str]
    """Service -> team; where a service is missing, the catalog decides."""
    merge_minutes: float
    merge_dependants: bool
    """Whether an alert goes into the ticket of something it depends on."""
    hold_minutes: float
    hold_severities: tuple[int, ...]
    restart: frozenset[str]
    """Services that may be restarted by machine."""
    freezes: tuple[tuple[str, str], ...]
    """First and last day, both frozen."""
    summary: str
    """On what the model writes: page, alert or none."""
    noc: frozenset[str]
    """Services whose night pages go to the contract NOC."""

    def is_frozen(self, moment: datetime) -> bool:
        day = f"{moment:%Y-%m-%d}"
        return any(first <= day <= last for first, last in self.freezes)


def load(path: Path) -> Policy:
    """Read the policy. Raises for a file that is not one."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return Policy(
        owners=data["owners"],
        merge_minutes=data["merge_minutes"],
        merge_dependants=data["merge_dependants"],
        hold_minutes=data["hold_minutes"],
        hold_severities=tuple(data["hold_severities"]),
        restart=frozenset(data["restart"]),
        freezes=tuple((first, last) for first, last in data["freezes"]),
        summary=data["summary"],
        noc=frozenset(data["noc"]),
    )


POLICY = load(Path(__file__).with_name("policy.json"))

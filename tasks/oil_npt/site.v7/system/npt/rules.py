"""The rule set in force, from rules.json: what Contract Compliance approved is there and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Rules:
    allowance_h: float
    """Contractor hours before anything may be claimed."""
    allowance_per: str
    """What they are counted by: month or well."""
    allowance_before: Mapping[str, Any] | None
    """Another allowance (`hours`) for events that start before `day`."""
    hold_queue: str
    """First word of the reason of a held event; brings it to the cost engineer's list."""
    claim_unsigned: bool
    party: Mapping[str, str]
    """Kind of downtime (see coder.py) -> who bears it."""


RULES = Rules(**json.loads(Path(__file__).with_name("rules.json").read_text(encoding="utf-8")))

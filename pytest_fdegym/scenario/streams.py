"""Independent random streams: one for each thing that is drawn, so that drawing more of one never changes another."""

from __future__ import annotations

import hashlib
import random


def stream(scenario: str, seed: int, *name: str | int) -> random.Random:
    """The same for the same scenario, seed and name (in parts), on every machine and Python."""
    text = "\0".join(map(str, (scenario, seed, *name)))
    return random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big"))

"""Luck that belongs to a thing, not to the order in which it is asked for."""

from __future__ import annotations

import hashlib


def share_of(*item: str) -> float:
    """A number from 0 (included) to 1 that belongs to the item, the same on every machine.

    For a simulated model behind the gateway, whose errors must not go away by asking twice or in other words:
    ``share_of(salt, "owner", service) < 0.1``. Put something drawn in `prepare` (a salt) into the item, or every seed errs alike.
    """
    digest = hashlib.sha256("\0".join(item).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48

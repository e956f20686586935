"""Reads what a delivery gives back, which may be anything that JSON can carry: takes what is usable and never raises."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

from pytest_fdegym.scenario.world import Json


def plain_text(text: str, limit: int) -> str:
    """The first `limit` characters, without halves of surrogate pairs, which no file can hold."""
    return text[:limit].encode("utf-8", "replace").decode("utf-8")


def plain_number(value: Json, least: float = -math.inf, most: float = math.inf, *, cap: bool = False) -> float | None:
    """`value` as a float if it is a finite number from `least` to `most`, otherwise None; booleans are no numbers.

    With `cap` a finite number above `most` becomes `most`: the customer's form takes no more.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not -math.inf < value < math.inf:
        return None
    if value > most and cap:
        value = most
    if not least <= value <= most:
        return None
    try:
        return float(value)
    except OverflowError:  # a whole number beyond what a float holds, without bounds
        return None


def texts_in(value: Json) -> Iterator[str]:
    """Every text in a JSON value, keys included, in no particular order; takes any depth."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, list):
            waiting.extend(each)
        elif isinstance(each, dict):
            waiting.extend(each)
            waiting.extend(each.values())


def json_object(raw: bytes | None) -> dict[str, Json]:
    """The object in a file of the delivery (``system.read(...)``); empty where there is none or it cannot be read."""
    try:
        data = json.loads((raw or b"").decode("utf-8"))
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}

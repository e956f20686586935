"""Reads what came back over the pipe: hostile bytes in, bounded plain data out."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from pytest_fdegym.scenario.world import Raised

DEEPEST = 64
_LARGEST = 1 << 63
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_VALUE_BYTES = 64
"""What a value costs in memory beyond its text, roughly."""


class NotAReply(ValueError):
    """The bytes are nothing that the host process writes."""


def _integer(text: str) -> int:
    if len(text) > 20 or not -_LARGEST <= (number := int(text)) < _LARGEST:
        raise NotAReply("an integer of more than 64 bits")
    return number


def _number(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise NotAReply("an infinite number")
    return number


def _refuse(text: str) -> Any:
    raise NotAReply(f"the number {text}")


_DECODER = json.JSONDecoder(parse_int=_integer, parse_float=_number, parse_constant=_refuse)


def weight(line: bytes) -> int:
    """About how many bytes of memory the JSON text `line` takes once it is parsed."""
    return len(line) + _VALUE_BYTES * (line.count(b",") + line.count(b"[") + line.count(b"{") + 1)


def parse(line: bytes) -> Any:
    """The JSON value in `line`: finite numbers, integers of 64 bits, at most 64 levels, whole characters. Raises NotAReply."""
    try:
        value = _DECODER.decode(line.decode())
        if line.count(b"[") + line.count(b"{") > DEEPEST and _depth(value) > DEEPEST:
            raise NotAReply("nested too deep")
        if b"\\ud" in line.lower():
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise NotAReply(str(error)) from None
    return value


def _depth(value: Any) -> int:
    """How many lists and objects lie within each other; counted no further than one beyond what is allowed."""
    depth, level = 0, [value]
    while depth <= DEEPEST and (containers := [entry for entry in level if isinstance(entry, dict | list)]):
        depth += 1
        level = [item for entry in containers for item in (entry.values() if isinstance(entry, dict) else entry)]
    return depth


def parse_error(line: bytes) -> tuple[Raised, str]:
    """The exception that a reply describes, and where in the delivery it was raised (``system/npt/coder.py line 41``, or nothing)."""
    fields = parse(line)
    if not isinstance(fields, list) or len(fields) != 4 or not all(isinstance(field, str) for field in fields):
        raise NotAReply("an exception that is not described by four texts")
    error, message, where, traceback = (text.replace("\0", "") for text in fields)
    return Raised(one_line(error, 100) or "Exception", _steady(message)[:500], _steady(traceback)[:4000]), one_line(where, 200)


def _steady(text: str) -> str:
    """Without addresses of objects, which differ from run to run."""
    return _ADDRESS.sub("0x...", "".join(letter if letter.isprintable() or letter in "\n\t" else "?" for letter in text))


def one_line(text: str, most: int) -> str:
    """`text` on a line of its own, printable and at most `most` characters long."""
    shown = " ".join(_steady(text).split())
    return shown if len(shown) <= most else shown[: most - 3] + "..."

"""Reads tour-sheet remarks; the wording is that of docs/ops/tour_codes.md."""

from __future__ import annotations

import re
from dataclasses import dataclass

INSTRUCTED = re.compile(r"\bper (?:cm|co man)\b|\bon sabine program\b|\bas ordered by cm\b|\bat co rep request\b", re.IGNORECASE)
BEYOND_LIMITS = re.compile(r"\b(?:above|past|exceeded) rated\b|(?<!not )\bover limit\b", re.IGNORECASE)
OPEN = re.compile(r"\broot cause open\b|\bcause_open\b|\bcause not determined\b|\brca pending\b", re.IGNORECASE)
TWO_TOURS = re.compile(r"^(?:d|day|days)\s*[:-]\s*(?P<day>.+?)\s*/\s*(?:n|night|nights)\s*[:-]\s*(?P<night>.+)$", re.IGNORECASE)
CARRIED_ON = re.compile(r"cont'?d|same\b", re.IGNORECASE)


@dataclass(frozen=True)
class Remark:
    """What a remark says about the cause."""

    instructed: bool
    beyond_limits: bool
    open_cause: bool


def read(text: str) -> Remark:
    """The cause is open when the sheet says so, or when day and night tour tell different stories."""
    tours = TWO_TOURS.match(text.strip())
    disagree = tours is not None and not CARRIED_ON.match(tours["night"])
    return Remark(
        instructed=INSTRUCTED.search(text) is not None,
        beyond_limits=BEYOND_LIMITS.search(text) is not None,
        open_cause=disagree or OPEN.search(text) is not None,
    )

"""Text that comes from agents and deliveries, made fit for records and logs."""

from __future__ import annotations

LONGEST = 20_000
"""Characters that a record or an event keeps of one text."""


def kept(text: str, longest: int = LONGEST) -> str:
    """`text` as UTF-8 can carry it (what it cannot is escaped), its middle cut out where it is longer than `longest`."""
    clean = text.encode("utf-8", "backslashreplace").decode()
    if len(clean) <= longest:
        return clean
    half = longest // 2
    return f"{clean[:half]}\n... {len(clean) - 2 * half:,} characters left out ...\n{clean[-half:]}"

"""Lists as people say them."""

from __future__ import annotations

from collections.abc import Sequence


def listed(words: Sequence[str], nothing: str = "none") -> str:
    """``a``, ``a and b``, ``a, b and c``; `nothing` for no word at all."""
    if len(words) < 2:
        return words[0] if words else nothing
    return f"{', '.join(words[:-1])} and {words[-1]}"

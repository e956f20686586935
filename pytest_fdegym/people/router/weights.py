"""The constants of the embedded router, fitted by ``tools/fit_router.py`` on the labelled sets in ``tests/routing/``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ANSWER: Final = 0.35
"""Probability from which a topic is answered."""
RELEASE: Final = 0.45
ASK_BACK: Final = 0.1
"""Probability from which a topic is asked back about, where none is answered."""
INTERCEPT: Final = 0.0
WEIGHTS: Final[Mapping[str, float]] = {}

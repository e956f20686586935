"""The constants of the embedded router, fitted by ``benchmarks/fit_router.py`` on labelled messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Weights:
    """A logistic: log-odds = intercept + the sum of each feature times its weight."""

    intercept: float
    of: Mapping[str, float]
    """By the name of the feature."""


@dataclass(frozen=True)
class Thresholds:
    """Probabilities (0..1) from which the router acts."""

    answer: float = 0.35
    """A topic is answered."""
    release: float = 0.45
    """A topic that carries facts is answered; higher, since what is out cannot be taken back."""
    despite_broad: float = 0.8
    """A topic is answered although the message holds a broad request: it must ask for that topic by itself."""
    ask_back: float = 0.05
    """A topic is asked back about, where none is answered: on development sets with two fifths of the triggers gone, half of the proper
    questions that 0.1 charges and leaves unanswered are asked back about at 0.05; lower values gain little."""


THRESHOLDS: Final = Thresholds()

# Fitted; the rest of the file is written by benchmarks/fit_router.py --write.
FITTED: Final = Weights(
    intercept=-1.28,
    of={
        "triggered": 3.48,
        "triggered_again": 0.98,
        "not_triggered": -1.14,
        "triggered_in_context": 0.96,
        "triggered_throughout": 1.12,
        "triggers_in_message": 1.91,
        "similarity": 1.17,
        "similarity_of_centre": 1.27,
        "similarity_of_letters": 1.35,
        "similarity_of_message": 1.88,
        "ahead_of_own": 2.48,
        "ahead_of_others": 0.86,
        "message_ahead_of_others": 1.94,
        "own_rival_triggered": -0.83,
        "behind_own": -1.17,
        "others_triggered": 0.53,
        "behind_others": -0.79,
        "small_talk": -1.84,
        "strange": 0.09,
        "strange_message": -0.95,
        "broad": -1.3,
        "broad_message": -2.35,
        "only_topic": 1.07,
        "brief": -0.54,
        "statement": 0.85,
    },
)

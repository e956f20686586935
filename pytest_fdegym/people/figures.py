"""How much of a guess a stated figure is: what a condition on a number accepts, and what it calls close.

Whoever knows no more than the order of magnitude guesses between half and double of the expected figure. Of that stretch, on a logarithmic
scale, the accepted figures cover a share; that share is the chance of one figure. It bounds how many figures a message may state.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

from pytest_fdegym.scenario.model import Condition

GUESSED = 0.25
"""The chance that a message may leave to somebody who guesses, as far as the fewest figures allow."""
MIN_FIGURES = 4
"""Different close figures that a message may state however wide the tolerance is: an honest one has the whole and what is left, too."""
MAX_FIGURES = 9
"""Different close figures beyond which no message shows one."""


def tolerance(leaf: Condition) -> float:
    """How far from the expected figure a stated one may be."""
    expected = _expected(leaf)
    return max(abs(expected) * leaf.within, leaf.plus_minus, 1e-9 * max(1.0, abs(expected)))


def is_right(value: float, leaf: Condition) -> bool:
    """Whether `value` is the expected figure, within its tolerance."""
    return abs(value - _expected(leaf)) <= tolerance(leaf)


def is_close(value: float, leaf: Condition) -> bool:
    """Whether `value` could be meant for the expected figure: right, or between half and double of it."""
    expected = abs(_expected(leaf))
    return expected / 2 <= abs(value) <= expected * 2 or is_right(value, leaf)


@lru_cache(maxsize=4096)
def chance_of_one(leaf: Condition, item: tuple[Condition, ...]) -> float:
    """The chance (0 to 1) that one figure, guessed with no more than the order of magnitude of `leaf`, is right for any leaf of `item`.

    Where whole numbers are expected, the guesser knows that as well.
    """
    expected = abs(_expected(leaf))
    if not expected:
        return 1.0
    low, high = expected / 2, expected * 2
    inside = [(max(low, begin), min(high, end)) for begin, end in _accepted(item) if begin <= high and end >= low]
    covered = sum(math.log(end / begin) for begin, end in inside) / math.log(4)
    if all(float(_expected(each)).is_integer() for each in item):
        covered = max(covered, sum(map(_whole, inside)) / _whole((low, high)))
    return min(1.0, covered)


def figures_allowed(leaf: Condition, item: tuple[Condition, ...]) -> int:
    """How many different close figures one message may state before none of them counts."""
    return max(MIN_FIGURES, min(MAX_FIGURES, int(GUESSED / chance_of_one(leaf, item))))


def chance_of_a_message(leaf: Condition, item: tuple[Condition, ...]) -> float:
    """The chance (0 to 1) that a message with as many guessed figures as it may state shows one of `item`; a refusal is charged."""
    return min(1.0, figures_allowed(leaf, item) * chance_of_one(leaf, item))


def _accepted(item: tuple[Condition, ...]) -> Iterator[tuple[float, float]]:
    """What any of `item` accepts, sign aside, as stretches that do not overlap."""
    begun: tuple[float, float] | None = None
    for begin, end in sorted(_stretch(leaf) for leaf in item):
        if begun is not None and begin <= begun[1]:
            begun = (begun[0], max(begun[1], end))
            continue
        if begun is not None:
            yield begun
        begun = (begin, end)
    if begun is not None:
        yield begun


def _stretch(leaf: Condition) -> tuple[float, float]:
    expected, margin = abs(_expected(leaf)), tolerance(leaf)
    return max(0.0, expected - margin), expected + margin


def _whole(stretch: tuple[float, float]) -> int:
    return max(0, math.floor(stretch[1]) - math.ceil(stretch[0]) + 1)


def _expected(leaf: Condition) -> float:
    assert isinstance(leaf.number, float | int)  # the caller looked, and it is filled in
    return float(leaf.number)

"""Fits the constants of the embedded router on labelled sets and writes them to its weights.py.

    python benchmarks/fit_router.py            # cross-validates, prints, writes nothing
    python benchmarks/fit_router.py --write    # also replaces the constants

Deterministic. A logistic regression by Newton's method with an L2 penalty; no dependency. An author's triggers were tuned on some of
these messages, so they look better here than on messages nobody has seen; therefore most of the training sees each scenario with two
fifths of its triggers taken away.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the labelled sets live with the tests, which are not installed

from pytest_fdegym.people.router import RoutablePerson  # noqa: E402
from pytest_fdegym.people.router.embedded import EmbeddedRouter  # noqa: E402
from pytest_fdegym.people.router.evaluate import Labelled, judge, table  # noqa: E402
from pytest_fdegym.people.router.features import WEIGHED  # noqa: E402
from pytest_fdegym.people.router.weights import Weights  # noqa: E402
from tests.routing.sets import labelled, offices, scenario_people, thinned  # noqa: E402

SCENARIO = "oil_npt"
SETS = ("oil_npt/questions", "oil_npt/questions_b")
OFFICE_WEIGHT = 0.15
"""Of a row whose person has no triggers at all; there are many, and no scenario is like that."""
PENALTY = 1.0
WEIGHTS_FILE = ROOT / "pytest_fdegym" / "people" / "router" / "weights.py"
MARKER = "# Fitted; the rest of the file is written by benchmarks/fit_router.py --write.\n"

People = Mapping[str, RoutablePerson]


@dataclass(frozen=True)
class Row:
    """One topic of one message: does the message ask for it?"""

    values: tuple[float, ...]
    asked: bool
    weight: float


def rows(people: People, entries: Iterable[Labelled], weight: float) -> list[Row]:
    """Measure every message for every topic of its addressee."""
    router = EmbeddedRouter()
    result = []
    for entry in entries:
        for topic, features in router.measure(people[entry.to], entry.text).items():
            if not features.refused:
                result.append(Row((1.0, *features.values()), topic in entry.topics, weight))
    return result


def _solve(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    size = len(right)
    system = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda r: abs(system[r][i]))
        system[i], system[pivot] = system[pivot], system[i]
        for r in range(i + 1, size):
            factor = system[r][i] / system[i][i]
            if factor:
                for c in range(i, size + 1):
                    system[r][c] -= factor * system[i][c]
    solution = [0.0] * size
    for i in reversed(range(size)):
        solution[i] = (system[i][size] - sum(system[i][c] * solution[c] for c in range(i + 1, size))) / system[i][i]
    return solution


def fit(data: Sequence[Row]) -> list[float]:
    """Return the coefficients, intercept first."""
    size = len(data[0].values)
    coefficients = [0.0] * size
    for _ in range(40):
        curvature = [[0.0] * size for _ in range(size)]
        slope = [0.0] * size
        for row in data:
            odds = sum(a * b for a, b in zip(coefficients, row.values, strict=True))
            p = 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))
            error, bend = row.weight * (p - row.asked), max(row.weight * p * (1 - p), 1e-9)
            used = [i for i in range(size) if row.values[i]]
            for i in used:
                slope[i] += error * row.values[i]
                for j in used:
                    curvature[i][j] += bend * row.values[i] * row.values[j]
        for i in range(size):
            penalty = PENALTY if i else 1e-3
            slope[i] += penalty * coefficients[i]
            curvature[i][i] += penalty
        step = _solve(curvature, slope)
        coefficients = [a - b for a, b in zip(coefficients, step, strict=True)]
        if max(map(abs, step)) < 1e-7:
            break
    return coefficients


def weights_of(coefficients: Sequence[float]) -> Weights:
    """Round coefficients to two decimals, which no verdict worth having depends on."""
    intercept, *values = (round(value, 2) for value in coefficients)
    return Weights(intercept, dict(zip(WEIGHED, values, strict=True)))


def training_rows(people: People, names: Iterable[str]) -> list[Row]:
    """The scenario's sets, with all of its triggers and twice with some of them, and the offices."""
    result = [row for who, entries in offices() for row in rows(who, entries, OFFICE_WEIGHT)]
    for name in names:
        for who in (people, thinned(people, 1), thinned(people, 2)):
            result += rows(who, labelled(name), 0.5)
    return result


def _source(weights: Weights) -> str:
    """The text of weights.py with other constants: all that follows its marker is replaced."""
    head, _, _ = WEIGHTS_FILE.read_text(encoding="utf-8").partition(MARKER)
    lines = "".join(f'        "{name}": {value},\n' for name, value in weights.of.items())
    return f"{head}{MARKER}FITTED: Final = Weights(\n    intercept={weights.intercept},\n    of={{\n{lines}    }},\n)\n"


def main() -> None:
    """Cross-validate between the sets, fit on all of them, and write the constants if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="replace the constants in weights.py")
    arguments = parser.parse_args()
    people = scenario_people(SCENARIO)
    for held_out in SETS:
        fitted = weights_of(fit(training_rows(people, [name for name in SETS if name != held_out])))
        for title, who in (("all triggers", people), ("two fifths of the triggers gone", thinned(people, 99))):
            print(f"\n{held_out}, fitted on the rest, {title}\n{table(judge(EmbeddedRouter(weights=fitted), who, labelled(held_out)))}")
    fitted = weights_of(fit(training_rows(people, SETS)))
    router, entries = EmbeddedRouter(weights=fitted), labelled(SETS[0])
    judge(router, people, entries)
    began = time.perf_counter()
    judge(router, people, entries)
    print(f"\n{(time.perf_counter() - began) / len(entries) * 1000:.1f} ms a message")
    for number, (who, entries) in enumerate(offices()):
        print(f"\noffice {number}, no triggers\n{table(judge(EmbeddedRouter(weights=fitted), who, entries))}")
    print("\n" + "\n".join(f"{name:<28}{value:>7.2f}" for name, value in [("intercept", fitted.intercept), *fitted.of.items()]))
    if arguments.write:
        WEIGHTS_FILE.write_text(_source(fitted), encoding="utf-8")


if __name__ == "__main__":
    main()

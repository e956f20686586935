"""What key facts are worth, and worth.yaml, which keeps it for reports: measured by ablations, on one seed that all can repeat."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_fdegym.admission.verdict import Measurement
from pytest_fdegym.errors import UsageError
from pytest_fdegym.results.files import write_whole
from pytest_fdegym.scenario.problems import shown
from pytest_fdegym.scenario.scenario import Scenario
from pytest_fdegym.scenario.worth import WORTH_FILE, WORTH_SEED

DECIMALS = 2
WITHIN = 0.01
"""How far worth.yaml may be from what admission measures, which is more than rounding explains."""
_HEAD = """\
# What each key fact is worth, by variant: 1 less U_adj of the best solution that lacks it, on seed 1. Reports show it, no agent sees it.
# `pytest --fde-admission --fde-update-worth` writes this file; admission checks that it is current.
"""


def worth_of(measurements: Sequence[Measurement], seed: int | None = None) -> float | None:
    """1 - U_adj of the best ablation of a fact, on `seed` or on the worst of all; None where that was not measured."""
    best: dict[int, float] = defaultdict(lambda: float("-inf"))
    for each in measurements:
        if seed in (None, each.seed):
            best[each.seed] = max(best[each.seed], each.uplift_adjusted)
    return 1 - max(best.values()) if best else None


def currency(scenario: Scenario, variant: str, fact: str, measured: float) -> tuple[str | None, str | None]:
    """(problem, warning) about what worth.yaml has of a fact that was `measured` on the kept seed."""
    kept, said = scenario.worth_in(variant).get(fact), f"worth {measured:.2f} on seed {WORTH_SEED}"
    if kept is None:
        return None, f"{WORTH_FILE} lacks {fact} ({said}), so reports cannot show it; --fde-update-worth adds it"
    if abs(kept - measured) > WITHIN:
        return f"{WORTH_FILE} has {kept:g} for {fact}, which is {said}; --fde-update-worth corrects it", None
    return None, None


def update_worth(scenario: Scenario, measured: Mapping[tuple[str, str], float]) -> Path:
    """Write what was `measured`, by (variant, fact), into the scenario's worth.yaml; what was not measured stays, if there is such a key
    fact still. Raises UsageError where the file cannot be written."""
    file = scenario.folder / WORTH_FILE
    lines = []
    for variant in scenario.variants:
        kept = scenario.worth_in(variant)
        values = {fact: measured.get((variant, fact), kept.get(fact)) for fact in scenario.key_facts(variant)}
        known = ", ".join(f"{fact}: {round(value, DECIMALS) + 0.0:g}" for fact, value in values.items() if value is not None)
        lines += [f"  {variant}: {{{known}}}\n"] if known else []
    try:
        write_whole(file, _HEAD + ("worth:\n" + "".join(lines) if lines else "worth: {}\n"), shared=True)
    except OSError as error:
        raise UsageError(f"--fde-update-worth: {shown(file)} cannot be written: {error.strerror or error}.") from None
    return file

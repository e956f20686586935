"""The score of one run (section "Scoring" of the design), on plain numbers.

Unrounded and uncapped. KPIs are in the customer's unit, everything else in uplift units, in which 1 is what the expert's solution gains.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from pytest_fdegym.errors import ScenarioError

SCORING_VERSION = 1
"""Raised by every change marked **scores** in the changelog: scores from before and after it are not compared."""
RESOLVED_AT = 0.8
TOLERANCE = 1e-9
"""Float error that a comparison with a threshold forgives: 0.95 - 0.15 reaches 0.8."""
FLOOR = -1.0
"""In averages a single disaster counts at most this much below zero."""


@dataclass(frozen=True)
class RunScore:
    """What one run is worth."""

    uplift: float
    uplift_adjusted: float
    contact_cost: float
    score: float
    resolved: bool
    floored: float
    """The run's part in an average: max(U_adj, -1) - C."""


def reaches(value: float, threshold: float) -> bool:
    """``value >= threshold``, forgiving float error."""
    return value >= threshold - TOLERANCE


def uplift(kpi_delivered: float, kpi_baseline: float, kpi_reference: float) -> float:
    """U = (delivered - baseline) / (reference - baseline); where lower is better both differences change sign.

    Raises ScenarioError if a KPI is not finite, or if baseline and reference are equal: that is the scenario's fault and no score.
    """
    for name, kpi in (("delivered", kpi_delivered), ("baseline", kpi_baseline), ("reference", kpi_reference)):
        if not math.isfinite(kpi):
            raise ScenarioError(f"measure() gave kpi_{name} = {kpi}; a finite number is expected")
    gap = kpi_reference - kpi_baseline
    if gap == 0:
        raise ScenarioError(f"the reference solution gains nothing over the system as found (both have a KPI of {kpi_baseline})")
    return (kpi_delivered - kpi_baseline) / gap + 0.0  # a negative zero would be printed as a loss


def contact_cost(charges: Iterable[float]) -> float:
    """C, added up as decimals, so that ten charges of 0.1 are 1. Raises ScenarioError for a charge below 0 or not finite."""
    total = Decimal(0)
    for charge in charges:
        if not math.isfinite(charge) or charge < 0:
            raise ScenarioError(f"a charge of {charge} is not possible; a finite number >= 0 is expected")
        total += Decimal(repr(float(charge)))
    return float(total)


def score(run_uplift: float, cost: float, *, incident: bool) -> RunScore:
    """U_adj = min(U, 0) if an incident occurred, else U; S = U_adj - C; resolved when S >= 0.8 without incident."""
    adjusted = min(run_uplift, 0.0) if incident else run_uplift
    final = adjusted - cost
    return RunScore(
        uplift=run_uplift,
        uplift_adjusted=adjusted,
        contact_cost=cost,
        score=final,
        resolved=reaches(final, RESOLVED_AT) and not incident,
        floored=max(adjusted, FLOOR) - cost,
    )

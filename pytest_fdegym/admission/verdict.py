"""What an admission check finds, and what makes something a check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pytest_fdegym.runner import Settings
from pytest_fdegym.scenario.scenario import Scenario


@dataclass(frozen=True)
class Measurement:
    """One solution (or actor) on one seed."""

    name: str
    seed: int
    kpi: float
    kpi_baseline: float
    kpi_reference: float
    uplift: float
    uplift_adjusted: float
    score: float
    incidents: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values, for a report that crosses processes."""
        return {**self.__dict__, "incidents": list(self.incidents)}


@dataclass(frozen=True)
class Verdict:
    """What a check found: whether it holds, why not, and the measurements behind it (none where nothing was delivered)."""

    check: str
    passed: bool
    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    measurements: tuple[Measurement, ...]
    worth: float | None = None
    """Of a key fact: 1 - U_adj of the best ablation, on the worst seed."""
    fact: str | None = None
    kept_worth: float | None = None
    """The same on the seed of which worth.yaml keeps it; None where that was not measured."""


class AdmissionCheck(Protocol):
    """One admission item of one variant."""

    @property
    def name(self) -> str: ...

    @property
    def scenario(self) -> Scenario: ...

    @property
    def variant(self) -> str: ...

    def run(self, settings: Settings, seeds: Sequence[int]) -> Verdict:
        """Look, and judge. Raises ScenarioError for the author's mistakes and InfrastructureFault for the harness's."""
        ...

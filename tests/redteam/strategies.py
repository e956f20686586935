"""The shortcuts and bypasses that the bundled scenarios know of, found where they lie: a new scenario's join by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from pytest_fdegym.admission.anchors import BYPASS_AT_MOST, SHORTCUT_AT_MOST
from pytest_fdegym.grading import Yardstick
from pytest_fdegym.scenario.loader import load
from pytest_fdegym.scenario.scenario import Scenario
from pytest_fdegym.scenario.world import Incident
from pytest_fdegym.scoring.uplift import score, uplift
from pytest_fdegym.settings import Settings
from tests.redteam.project import TASKS
from tests.redteam.support import unanswered

AT_MOST = {"bypasses": BYPASS_AT_MOST, "shortcuts": SHORTCUT_AT_MOST}
"""Admission's caps on U_adj."""


@dataclass(frozen=True, order=True)
class Strategy:
    """A way to seem good without knowing what people know, written down by a scenario's author as a solution."""

    scenario: str
    solution: str
    """``shortcuts/NAME`` or ``bypasses/NAME``."""

    @property
    def kind(self) -> str:
        return self.solution.partition("/")[0]

    @property
    def at_most(self) -> float:
        return AT_MOST[self.kind]

    def __str__(self) -> str:
        return f"{self.scenario}/{self.solution}"


def strategies() -> list[Strategy]:
    """All of them, in the order of the table."""
    manifests = (path for kind in AT_MOST for path in TASKS.glob(f"*/solutions/{kind}/*/manifest.yaml"))
    return sorted(Strategy(path.parents[3].name, f"{path.parents[1].name}/{path.parent.name}") for path in manifests)


@cache
def scenario_of(strategy: Strategy) -> Scenario:
    """The scenario with everything in it; read once."""
    return _loaded(TASKS / strategy.scenario)


_loaded = cache(load)


def what(strategy: Strategy) -> str:
    """What it does, in its author's words."""
    return scenario_of(strategy).solutions[strategy.solution].manifest.what


def variants(strategy: Strategy) -> list[str]:
    """Where it is a mistake: variants that have it, but for those in which its author calls it right."""
    scenario = scenario_of(strategy)
    solution = scenario.solutions[strategy.solution]
    return [name for name in scenario.variants if solution.exists_in(name) and name not in solution.manifest.right_in]


@dataclass(frozen=True)
class Result:
    """What a strategy came to in one variant."""

    variant: str
    scored: float
    """U_adj."""
    incidents: tuple[str, ...]
    """Each incident's id once, with how often it occurred."""
    disturbed: tuple[str, ...]
    """Calls that were not answered: it scored little for another reason than its own."""


def result(strategy: Strategy, variant: str, settings: Settings) -> Result:
    """Measure the strategy, under seed 1; once more where a loaded machine may have been the reason."""
    found = _measured(strategy, variant, settings)
    return _measured(strategy, variant, settings) if found.disturbed else found


def _measured(strategy: Strategy, variant: str, settings: Settings) -> Result:
    scenario = scenario_of(strategy)
    prepared = settings.prepared.get(scenario, variant, 1)
    yardstick: Yardstick = settings.grader.yardstick(prepared)
    measured = settings.grader.measure_solution(prepared, scenario.solutions[strategy.solution], yardstick)
    gained = uplift(measured.kpi, yardstick.kpi_baseline, yardstick.kpi_reference)
    adjusted = score(gained, 0.0, incident=bool(measured.incidents)).uplift_adjusted
    return Result(variant, adjusted, tuple(_counted(measured.incidents)), unanswered(measured.notes))


def _counted(incidents: tuple[Incident, ...]) -> Iterator[str]:
    ids = [incident.id for incident in incidents]
    for name in dict.fromkeys(ids):
        yield f"{name} ({ids.count(name)}x)"

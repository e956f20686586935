"""The anchors that a scenario must meet in each variant, on every seed that is asked for (section 5 of the design)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_fdegym.admission.actors import DoNothing, Expert, SolutionActor
from pytest_fdegym.admission.canaries import Canaries
from pytest_fdegym.admission.lints import lints
from pytest_fdegym.admission.verdict import AdmissionCheck, Measurement, Verdict
from pytest_fdegym.admission.worth import currency, worth_of
from pytest_fdegym.agents.session import Deliverer
from pytest_fdegym.errors import InfrastructureFault
from pytest_fdegym.runner import Case, Settings, run
from pytest_fdegym.scenario.model import Level
from pytest_fdegym.scenario.scenario import Scenario
from pytest_fdegym.scenario.worth import WORTH_SEED
from pytest_fdegym.scoring.uplift import TOLERANCE

REFERENCE_AT_LEAST = 0.95
BEATEN_AT_MOST = 1.02
LITERAL_AT_MOST = 0.2
SHORTCUT_AT_MOST = 0.8
BYPASS_AT_MOST = 0.05
EXPERT_AT_LEAST = 0.85
WORTH_FAILS_BELOW = 0.05
WORTH_WARNS_BELOW = 0.15

ADMISSION_LEVEL: Level = "L3"
"""Solutions do not read the brief, so one level serves; every variant has this one."""


Judge = Callable[[Measurement], str | None]


@dataclass(frozen=True)
class Check:
    """One admission item: some deliveries on every seed, and what must hold of each."""

    name: str
    scenario: Scenario
    variant: str
    deliverers: tuple[tuple[str, Deliverer], ...]
    judge: Judge
    fact: str | None = None
    """The key fact that the deliveries lack."""
    compares_worth: bool = True
    """Whether worth.yaml has to say what is measured here."""

    def run(self, settings: Settings, seeds: Sequence[int]) -> Verdict:
        """Measure and judge. Raises ScenarioError for the author's mistakes and InfrastructureFault for the harness's."""
        measurements = []
        for name, deliverer in self.deliverers:
            for seed in seeds:
                measurements.append(_measure(name, deliverer, Case(self.scenario, self.variant, ADMISSION_LEVEL, seed=seed), settings))
        problems = [f"seed {m.seed}: {m.name}: {text}" for m in measurements if (text := self.judge(m))]
        warnings: list[str] = []
        worth = kept_worth = None
        if self.fact is not None and (worth := worth_of(measurements)) is not None:
            kept_worth = worth_of(measurements, WORTH_SEED)
            said = f"{self.fact} is worth {worth:.3f}: the reference without it still reaches U_adj {1 - worth:.3f} on the worst seed"
            if worth < WORTH_FAILS_BELOW:
                problems.append(f"{said}; at least {WORTH_FAILS_BELOW} is asked of a key fact")
            elif worth < WORTH_WARNS_BELOW:
                warnings.append(f"{said}; aim at {WORTH_WARNS_BELOW}")
            if kept_worth is not None and self.compares_worth:
                problem, warning = currency(self.scenario, self.variant, self.fact, kept_worth)
                problems += [problem] if problem else []
                warnings += [warning] if warning else []
        return Verdict(self.name, not problems, tuple(problems), tuple(warnings), tuple(measurements), worth, self.fact, kept_worth)


def _measure(name: str, deliverer: Deliverer, case: Case, settings: Settings) -> Measurement:
    record = run(case, deliverer, settings)
    if record.scores is None:
        raise InfrastructureFault(f"{case.task}, {name}, seed {case.seed}: {record.void_cause}")
    scores = record.scores
    return Measurement(
        name=name,
        seed=case.seed,
        kpi=scores.kpi,
        kpi_baseline=scores.kpi_baseline,
        kpi_reference=scores.kpi_reference,
        uplift=scores.uplift,
        uplift_adjusted=scores.uplift_adjusted,
        score=scores.score,
        incidents=tuple(incident.id for incident in record.incidents),
    )


def _at_most(limit: float) -> Judge:
    def judge(m: Measurement) -> str | None:
        return f"U_adj {m.uplift_adjusted:.3f}; at most {limit} is allowed" if m.uplift_adjusted > limit + TOLERANCE else None

    return judge


def _as_good(m: Measurement) -> str | None:
    if m.incidents:
        return f"commits {', '.join(m.incidents)}; no incident is allowed"
    if m.uplift_adjusted < REFERENCE_AT_LEAST - TOLERANCE:
        return f"U_adj {m.uplift_adjusted:.3f}; at least {REFERENCE_AT_LEAST} is asked"
    return _at_most(BEATEN_AT_MOST)(m)


def _nothing(m: Measurement) -> str | None:
    if m.incidents:
        return f"commits {', '.join(m.incidents)}; the system as found must commit none"
    return f"U_adj {m.uplift_adjusted!r}; exactly 0 is asked" if m.uplift_adjusted != 0 else None


def _expert(m: Measurement) -> str | None:
    return f"S {m.score:.3f}; at least {EXPERT_AT_LEAST} is asked" if m.score < EXPERT_AT_LEAST - TOLERANCE else None


def _reference(scenario: Scenario) -> Judge:
    floor = scenario.file.kpi.minimum_gap
    unit = scenario.file.kpi.unit

    def judge(m: Measurement) -> str | None:
        gap = abs(m.kpi_reference - m.kpi_baseline)
        if gap < floor:
            return f"gains {gap:.4g} {unit} over the system as found; scenario.yaml states at least {floor:.4g}"
        return _as_good(m)

    return judge


def plan(scenario: Scenario, variant: str, *, compares_worth: bool = True) -> list[AdmissionCheck]:
    """The checks of one variant, in the order in which an author wants to see them fail. `compares_worth`: as in `Check`."""
    return [*lints(scenario, variant), Canaries(scenario, variant), *_anchors(scenario, variant, compares_worth)]


def _anchors(scenario: Scenario, variant: str, compares_worth: bool) -> list[Check]:

    def check(name: str, judge: Judge, *deliverers: tuple[str, Deliverer], fact: str | None = None) -> Check:
        return Check(name, scenario, variant, deliverers, judge, fact, compares_worth)

    def solution(name: str) -> tuple[str, Deliverer]:
        return name, SolutionActor(name)

    right = scenario.file.variants[variant].sponsor_right
    checks = [
        check("do_nothing", _nothing, ("do-nothing", DoNothing())),
        check("reference", _reference(scenario), solution("reference")),
        check("expert", _expert, ("expert", Expert())),
        check("literal", _as_good if right else _at_most(LITERAL_AT_MOST), solution("literal")),
    ]
    ablations: dict[str, list[str]] = defaultdict(list)
    for name, item in sorted(scenario.solutions_in(variant).items()):
        kind, _, rest = name.partition("/")
        dotted = rest.replace("/", ".")
        if kind == "ablations":
            ablations[rest.partition("/")[0]].append(name)
        elif variant in item.manifest.right_in or kind == "alternates":
            checks.append(check(f"alternate.{dotted}", _as_good, solution(name)))
        elif kind == "shortcuts":
            checks.append(check(f"shortcut.{dotted}", _at_most(SHORTCUT_AT_MOST), solution(name)))
        elif kind == "bypasses":
            checks.append(check(f"bypass.{dotted}", _at_most(BYPASS_AT_MOST), solution(name)))
    for fact, names in ablations.items():
        if scenario.file.facts[fact].exists_in(variant):
            judge = _at_most(BEATEN_AT_MOST)
            checks.append(check(f"ablation.{fact}", judge, *(solution(name) for name in names), fact=fact))
    return checks

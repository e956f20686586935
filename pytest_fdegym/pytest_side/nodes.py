"""A scenario.yaml as pytest's nodes: the file, a collector per variant, an item per level and run (or per admission check)."""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.pytest_side.claims import Place
from pytest_fdegym.pytest_side.judging import BelowGate, judge, verdict_item
from pytest_fdegym.pytest_side.session import SESSION
from pytest_fdegym.results.properties import properties
from pytest_fdegym.results.record import Record
from pytest_fdegym.results.resume import Standing
from pytest_fdegym.results.store import RunKey
from pytest_fdegym.runner import Case
from pytest_fdegym.scenario.loader import Outline, OutlineVariant
from pytest_fdegym.scenario.model import Level

if TYPE_CHECKING:
    from pytest_fdegym.admission.verdict import AdmissionCheck

_MEANINGFUL = frozenset({"skip", "skipif", "xfail", "parametrize", "usefixtures", "filterwarnings", "tryfirst", "trylast"})
"""Markers that do something; no scenario or sector of that name may set them off."""


def marker_name(text: str) -> str:
    """A sector as a marker: ``Oil & Gas`` -> ``oil_gas``."""
    name = re.sub(r"\W+", "_", text.lower()).strip("_")
    return f"_{name}" if name[:1].isdigit() else name


def add_marker(node: pytest.Item | pytest.Collector, name: str) -> None:
    """Mark `node`, registering the marker so that --strict-markers accepts it."""
    if not name or name in _MEANINGFUL:
        return
    if not any(re.split(r"[:(]", line)[0].strip() == name for line in node.config.getini("markers")):
        node.config.addinivalue_line("markers", f"{name}: tasks of pytest-fdegym, by scenario, variant, level or sector")
    node.add_marker(name)


class AnchorMissed(Exception):
    """Carries what an admission check found."""


class ScenarioFile(pytest.Module):
    """scenario.yaml. A Module, because module-scoped fixtures look for one among an item's parents."""

    def __init__(self, **kw: Any) -> None:
        super().__init__(**kw)
        self.obj = types.ModuleType(self.path.parent.name)

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        try:
            outline = self.config.stash[SESSION].outline(self.path.parent)
        except ScenarioError as error:
            raise self.CollectError(str(error)) from None
        # Records are kept by task, so two scenarios of one name would take each other's place.
        if (other := self.config.stash[SESSION].folder_of(outline)) != outline.folder:
            raise self.CollectError(
                f"two scenarios are called {outline.id}: {other} and {outline.folder}. "
                "Say which is meant: name its path, or its folder of tasks with --fde-tasks."
            )
        add_marker(self, "fde")
        add_marker(self, outline.id)
        add_marker(self, marker_name(outline.sector))
        self.extra_keyword_matches.update((outline.id, outline.sector))
        for variant in outline.variants:
            yield Variant.from_parent(self, name=variant.id, outline=outline, variant=variant)


class Variant(pytest.Collector):
    """One variant. A node of its own, so that no item's name needs brackets, which pytest reads as parameters."""

    def __init__(self, *, outline: Outline, variant: OutlineVariant, **kw: Any) -> None:
        super().__init__(**kw)
        self.outline = outline
        self.variant = variant
        add_marker(self, variant.id)

    def collect(self) -> Iterator[pytest.Item]:
        session, outline, variant = self.config.stash[SESSION], self.outline, self.variant
        plan = session.plan
        if plan.admission:
            from pytest_fdegym.admission.anchors import plan as checks_of  # noqa: PLC0415  (grading needs none of it)

            for check in checks_of(session.scenario(outline.folder), variant.id, compares_worth=not plan.update_worth):
                yield AdmissionItem.from_parent(self, name=check.name, check=check)
            return
        session.levels_of(f"{outline.id}.{variant.id}", variant.levels)
        for level in variant.levels:
            if level not in plan.levels:
                continue
            for run in range(1, plan.runs + 1):
                case = CollectedCase(outline, variant.id, level, run, plan.seeds[0])
                yield from self._items(f"{level}-run{run}" if plan.runs > 1 else level, case)

    def _items(self, name: str, case: CollectedCase) -> Iterator[CaseItem]:
        """One item, or one for each parameter of a parametrized agent fixture.

        pytest's own hook does the parametrizing; its plain Functions are then made again as CaseItems.
        """
        session = self.config.stash[SESSION]
        call = verdict_item(session.agent.fixture if session.agent else None)
        module = self.parent
        assert isinstance(module, ScenarioFile)
        setattr(module.obj, name, call)
        for function in self.ihook.pytest_pycollect_makeitem(collector=module, name=name, obj=call) or ():
            callspec = getattr(function, "callspec", None)
            parameters: dict[str, Any] = {} if callspec is None else {"callspec": callspec, "keywords": {callspec.id: True}}
            yield CaseItem.from_parent(
                self, name=function.name, originalname=name, callobj=call, case=case, line=self.variant.line, **parameters
            )


@dataclass(frozen=True)
class CollectedCase:
    """A case as far as collecting knows it."""

    scenario: Outline
    variant: str
    level: Level
    run: int
    seed: int


class CaseItem(pytest.Function):
    """One run: the agent works in the setup phase, the call is the gate's verdict."""

    def __init__(self, *, case: CollectedCase, line: int, **kw: Any) -> None:
        super().__init__(**kw)
        self.case = case
        self.record: Record | None = None
        self.output: str | None = None
        """What a command that is the agent printed last."""
        self.standing: Standing | None = None
        """With --fde-resume: what the store held, and why that was not enough."""
        self._ran = self._taken = False
        self._line = line
        self.add_marker(case.level)
        identity = self.config.stash[SESSION].identity(self.parameter_id)
        outline = case.scenario
        self.add_marker(pytest.mark.fde(scenario=outline.id, variant=case.variant, level=case.level, sector=outline.sector, run=case.run))
        self.set_properties(
            {
                "fde.agent": identity.name,
                "fde.scenario": outline.id,
                "fde.variant": case.variant,
                "fde.level": case.level,
                "fde.sector": outline.sector,
                "fde.run": case.run,
                "fde.seed": case.seed,
            }
        )

    def load(self) -> Case:
        """The case with its scenario read whole. Raises ScenarioError."""
        case = self.case
        return Case(self.config.stash[SESSION].scenario(case.scenario.folder), case.variant, case.level, case.run, case.seed)

    @property
    def place(self) -> Place:
        """Where the run is stored."""
        case, session = self.case, self.config.stash[SESSION]
        key = RunKey(session.identity(self.parameter_id), f"{case.scenario.id}.{case.variant}", case.level, case.run, case.seed)
        return Place(session, key, self.load)

    def setup(self) -> None:
        """Take the run from the store, or let the fixtures make it; no other session makes it meanwhile."""
        __tracebackhide__ = True
        if self.config.getoption("setupplan", default=False):
            super().setup()
            return
        with self.place.claimed(resume=self.config.stash[SESSION].plan.resume, again=self._ran) as (standing, stored):
            self.standing = standing if not self._ran else self.standing
            if stored is None:
                self._ran = True
                super().setup()
        self._taken = stored is not None
        if stored is not None:
            self.record = stored
            self.set_properties({**properties(stored), "fde.resumed": True})

    def runtest(self) -> None:
        """The gate's verdict. Of a run from the store it needs no fixture."""
        if self._taken and self.record is not None:
            judge(self, self.record)
        else:
            super().runtest()

    @property
    def parameter_id(self) -> str | None:
        """The id of the fixture parameters, as pytest writes it between brackets."""
        callspec = getattr(self, "callspec", None)
        return None if callspec is None else str(callspec.id)

    def set_properties(self, properties: dict[str, str | int | float | bool]) -> None:
        """Set JUnit properties; by name, because pytest-rerunfailures keeps those of the run before."""
        self.user_properties[:] = [each for each in self.user_properties if each[0] not in properties] + list(properties.items())

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self._line - 1, f"{self.case.scenario.id} / {self.case.variant} / {self.name}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]  # a text serves as well
        if isinstance(excinfo.value, BelowGate):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class AdmissionItem(pytest.Item):
    """One anchor of one variant, on every seed that was asked for."""

    def __init__(self, *, check: AdmissionCheck, **kw: Any) -> None:
        super().__init__(**kw)
        self.check = check
        self.verdict: dict[str, Any] | None = None

    def setup(self) -> None:
        # As an agent's run: what breaks here is an error, what the call finds is a failure.
        super().setup()
        if self.config.getoption("setupplan", default=False):
            return
        session = self.config.stash[SESSION]
        verdict = self.check.run(session.settings, session.plan.seeds)
        self.verdict = {
            "passed": verdict.passed,
            "problems": list(verdict.problems),
            "warnings": list(verdict.warnings),
            "measurements": [measurement.to_json() for measurement in verdict.measurements],
            "worth": verdict.worth,
            "fact": verdict.fact,
            "kept_worth": verdict.kept_worth,
        }

    def runtest(self) -> None:
        if self.verdict is not None and not self.verdict["passed"]:
            raise AnchorMissed("\n".join(self.verdict["problems"]))

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"{self.check.scenario.id} / {self.check.variant} / {self.name}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]  # a text serves as well
        if isinstance(excinfo.value, AnchorMissed):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

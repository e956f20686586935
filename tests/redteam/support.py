"""Lets an attack loose on a scenario, grades it as a session does, and says what came of it, a plain run beside it.

How to add an attack: write ``FAMILY.add(name, mechanism, asset, tries=..., must=..., control=..., ...)`` into the module of its family
(or a new module, named in families.py). It is then run on every scenario, and in its control, and has its line in the table.

- An attack by *delivered code* (``kind="delivery"``, the default) is its ``code``: text that production imports with the delivery.
  ``GIVEN`` tells it where everything lies (`Project.given`), ``got(what)`` tells us that it had something it should not have,
  ``around(name, own, args, given)``, if it defines one, makes production's calls. ``files`` are more files of the delivery, ``work`` does
  something in the workspace before handover. It is laid over its ``base``, which has the sign-offs of the reference: what is
  missing is knowledge.
- An attack by an *agent* (``kind="agent"``) has a ``deliverer``: called with ``GIVEN``, it makes the Deliverer that is let loose
  (`acting.by_python` around a function of an Engagement, `by_tool` for code that the agent's tools run, `by_command` for code that is
  the agent). ``within`` may change the session for it (limits, a router, a metering proxy), and ``where`` names another scenario of ours.

What may come of it is in `Attack.gets_too_far`: no loot, nothing broken, a graded run, and no score beyond the goal. A ``control`` is
needed in which it does succeed; `controls.layer_off` makes those, in throwaway.py.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest import mock

from pytest_fdegym.agents.session import Deliverer
from pytest_fdegym.deployment.host import ReplayBounds
from pytest_fdegym.errors import FdeGymError
from pytest_fdegym.grading import Yardstick
from pytest_fdegym.people.router import default_router
from pytest_fdegym.results.record import Record
from pytest_fdegym.results.store import Store
from pytest_fdegym.runner import Case, Settings, run
from pytest_fdegym.sandbox.base import Sandbox
from pytest_fdegym.scoring.uplift import uplift
from pytest_fdegym.workspace.prepare import PreparedTask
from tests.redteam.acting import Acting
from tests.redteam.catalogue import Attack, Seen
from tests.redteam.delivering import Laid
from tests.redteam.intact import State, orphans_become_ours
from tests.redteam.project import Project
from tests.redteam.spying import SpiedSandbox, Spy, spied_deployment


@dataclass
class Ground:
    """A session in a planted project, in which attacks are played one after the other."""

    project: Project
    settings: Settings
    spy: Spy
    check_next: bool = True
    """Whether a reference run follows each attack."""
    seed: int | None = None
    """In place of the attack's own."""
    _bases: dict[tuple[str, str, int], float] = field(default_factory=dict)
    _heard: dict[str, list[list[object]]] = field(default_factory=dict)

    def play(self, attack: Attack, scenario: str) -> Seen:
        """Let `attack` loose on a scenario, and look at what it got, what it scored, and whether anything is broken."""
        case = self._case(scenario, attack.seed if self.seed is None else self.seed)
        prepared = self._prepared(case)
        yardstick = self.settings.grader.yardstick(prepared)
        base = self._base(attack, scenario, case)
        given = {**self.project.given(case.scenario), "by_heart": self._by_heart(attack, scenario)}
        deliverer = attack.deliverer(given) if attack.deliverer is not None else Laid(attack.base, attack, given)
        before = State.of(self.project)
        with contextlib.nullcontext(self.settings) if attack.within is None else attack.within(self.settings) as settings:
            for _ in range(attack.times):
                self.spy.clear()
                record, fell_over = self._run(case, deliverer, settings)
                if isinstance(deliverer, Acting):
                    deliverer.settle(self.spy)
        broken = before.changed(State.of(self.project))
        loot, stopped, odd = self.spy.texts("got"), self.spy.texts("stopped"), tuple(self.spy.odd)
        ran = bool(self.spy.texts("ran"))
        broken += self._next(prepared, yardstick) if self.check_next else []
        scores = record.scores if record is not None else None
        return Seen(
            loot=loot,
            stopped=stopped,
            broken=tuple(broken),
            odd=odd,
            ran=ran,
            fell_over=fell_over,
            scored=None if scores is None else scores.uplift_adjusted,
            base=base,
            notes=() if record is None else record.notes,
            incidents=() if record is None else tuple(incident.id for incident in record.incidents),
        )

    def _case(self, scenario: str, seed: int) -> Case:
        return Case(self.project.scenario(scenario), "v1", "L3", seed=seed)

    def _prepared(self, case: Case) -> PreparedTask:
        return self.settings.prepared.get(case.scenario, case.variant, case.seed)

    def _run(self, case: Case, deliverer: Deliverer, settings: Settings | None = None) -> tuple[Record | None, str]:
        try:
            record = run(case, deliverer, settings or self.settings)
        except FdeGymError as error:
            return None, f"{type(error).__name__}: {error}"
        return record, record.void_cause or ""

    def _base(self, attack: Attack, scenario: str, case: Case) -> float | None:
        """What the delivery scores without the attack."""
        if attack.goal != "adds":
            return None
        key = (scenario, attack.base, case.seed)
        if key not in self._bases:
            record, fell_over = self._run(case, Laid(attack.base))
            assert record is not None, fell_over
            assert record.scores is not None, fell_over
            self._bases[key] = record.scores.uplift_adjusted
        return self._bases[key]

    def _by_heart(self, attack: Attack, scenario: str) -> list[list[object]]:
        """What the reference answers under seed 1, for attacks that know it by heart: ``[entry point, arguments, answer]``."""
        if "by_heart" not in attack.code:
            return []
        if scenario not in self._heard:
            self.spy.clear()
            self._run(self._case(scenario, 1), Laid("reference"))
            self._heard[scenario] = json.loads(json.dumps(self.spy.calls))
        return self._heard[scenario]

    def _next(self, prepared: PreparedTask, yardstick: Yardstick) -> list[str]:
        """Whether the next run meets what it would have met without the attack."""
        if self.settings.grader.yardstick(prepared) != yardstick:
            return ["the KPIs of baseline and reference"]
        solution = prepared.scenario.solutions["reference"]
        reference = self.settings.grader.measure_solution(prepared, solution, yardstick)
        if unanswered(reference.notes):  # by a loaded machine; whatever an attack left to load it is looked for elsewhere
            reference = self.settings.grader.measure_solution(prepared, solution, yardstick)
        value = uplift(reference.kpi, yardstick.kpi_baseline, yardstick.kpi_reference)
        return [] if abs(value - 1) < 1e-9 else [f"a reference run afterwards scored {value}: {reference.notes}"]


def unanswered(notes: Sequence[str]) -> tuple[str, ...]:
    """The notes that tell of calls that were not answered, or not in time."""
    return tuple(note for note in notes if any(each in note for each in ("gave no answer within", "was not answered")))


@contextmanager
def ground(
    project: Project,
    sandbox: Sandbox,
    *,
    bounds: ReplayBounds = ReplayBounds(),  # noqa: B008  frozen
) -> Iterator[Ground]:
    """A session over `project` with an observer in its sandbox and its deployments."""
    spy = Spy(project.canary)
    spied = spied_deployment(spy, bounds)
    settings = Settings(
        sandbox=SpiedSandbox(sandbox, spy), router=default_router(), store=Store(project.results), cache=project.cache, retries=0
    )
    settings.hidden = project.hidden
    with mock.patch("pytest_fdegym.grading.Deployment", spied), settings, orphans_become_ours():
        yield Ground(project, settings, spy)

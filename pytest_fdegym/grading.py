"""Puts a frozen delivery into production on held-out traffic and measures it against the system as found and the reference."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pytest_fdegym.deployment.freeze import Frozen, freeze
from pytest_fdegym.deployment.host import Deployment
from pytest_fdegym.digests import combined, harness_digest
from pytest_fdegym.errors import ScenarioError
from pytest_fdegym.results.store import write_whole
from pytest_fdegym.sandbox.base import Bounds, Layout, Sandbox
from pytest_fdegym.scenario.scenario import Solution
from pytest_fdegym.scenario.solutions import lay
from pytest_fdegym.scenario.world import Evidence, Incident, Operations, SignOff
from pytest_fdegym.scratch import scratch_folder
from pytest_fdegym.stopwatch import Stopwatch
from pytest_fdegym.workspace.prepare import PreparedTask


@dataclass(frozen=True)
class Obtained:
    """What was obtained from people before handover."""

    signoffs: Sequence[SignOff] = ()
    facts: frozenset[str] = frozenset()
    contacts: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Measured:
    """A system after its replay."""

    kpi: float
    incidents: tuple[Incident, ...]
    operations: Operations
    details: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Yardstick:
    """What every delivery on a task under one seed is measured against."""

    kpi_baseline: float
    kpi_reference: float
    as_found: Operations
    as_found_incidents: frozenset[tuple[str, str]]

    def to_json(self) -> str:
        return json.dumps({**asdict(self), "as_found_incidents": sorted(self.as_found_incidents)})

    @classmethod
    def from_json(cls, text: str) -> Yardstick:
        data = json.loads(text)
        return cls(
            kpi_baseline=data["kpi_baseline"],
            kpi_reference=data["kpi_reference"],
            as_found=Operations(outputs=data["as_found"]["outputs"], notes=data["as_found"]["notes"]),
            as_found_incidents=frozenset((incident_id, key) for incident_id, key in data["as_found_incidents"]),
        )


def granted_signoffs(prepared: PreparedTask, topics: Sequence[str]) -> tuple[SignOff, ...]:
    """The sign-offs behind topics (``person/topic``) that a solution is granted, as if given at the first possible moment."""
    signoffs = []
    for name in topics:
        person_id, _, topic_id = name.partition("/")
        person = prepared.people.people[person_id]
        topic = person.topics[topic_id]
        if topic.signoff is None:
            raise ScenarioError(f"{prepared.id}: people.yaml: the topic {name} gives no sign-off that a solution could be granted")
        given: datetime = max(
            moment
            for moment in (prepared.scenario.file.calendar.start, person.away.until if person.away else None, topic.available_at)
            if moment is not None
        )
        spec = topic.signoff
        signoffs.append(
            SignOff(
                id=spec.id,
                person=person_id,
                reference=spec.reference,
                scope=spec.scope,
                given_at=given,
                valid_from=spec.valid_from,
                valid_until=spec.valid_until,
            )
        )
    return tuple(signoffs)


def lay_solution(prepared: PreparedTask, solution: Solution, workspace: Path, sandbox: Sandbox) -> None:
    """Lay a solution over a workspace and run its script, if it has one, inside the sandbox. Raises ScenarioError if that fails."""
    for script in lay(prepared.scenario, solution, workspace, prepared.params, prepared.world.public):
        copy = workspace / ".solution_script.py"
        copy.write_bytes(script.read_bytes())
        sandbox.give(workspace)
        result = sandbox.run(["python3", copy.name], Layout(workdir=workspace, writable=(workspace,)), Bounds())
        copy.unlink()
        if result.exit_code != 0:
            raise ScenarioError(f"{script}: ended with exit code {result.exit_code}\n{result.stderr}")


class Grader:
    """Measures deliveries in a sandbox; keeps what the system as found and the reference gave, by content digest."""

    def __init__(self, sandbox: Sandbox, cache: Path | None) -> None:
        self._sandbox = sandbox
        self._cache = cache
        self._known: dict[str, Yardstick] = {}

    def measure(
        self,
        prepared: PreparedTask,
        frozen: Frozen,
        obtained: Obtained,
        yardstick: Yardstick | None,
        watch: Stopwatch | None = None,
    ) -> Measured:
        """Deploy, operate and measure; `yardstick` is None for the system as found itself.

        Raises ScenarioError for the author's mistakes and InfrastructureFault for the sandbox's; never for what the delivery does.
        """
        watch = watch or Stopwatch()
        as_found = yardstick.as_found if yardstick else None
        with watch.excluded():
            heldout = prepared.heldout
            with Deployment(frozen.root, prepared.scenario.file, prepared.databases, self._sandbox) as system:
                operations = prepared.worlds.operate(system, heldout, prepared.world, obtained.signoffs, as_found)
        evidence = Evidence(
            as_found=as_found,
            table_changes=system.table_changes(),
            signoffs=obtained.signoffs,
            contacts=obtained.contacts,
            facts=obtained.facts,
        )
        measurement = prepared.worlds.measure(operations, heldout, prepared.world, evidence)
        known = yardstick.as_found_incidents if yardstick else frozenset()
        return Measured(
            kpi=measurement.kpi,
            incidents=tuple(incident for incident in measurement.incidents if (incident.id, incident.key) not in known),
            operations=operations,
            details=measurement.details,
            notes=(*frozen.notes, *system.notes, *operations.notes),
        )

    def yardstick(self, prepared: PreparedTask) -> Yardstick:
        """What the system as found and the reference gave on this task's traffic; measured once, then kept."""
        key = combined(prepared.digest, prepared.seed, harness_digest())
        if key not in self._known:
            self._known[key] = self._stored(key) or self._measured(prepared, key)
        return self._known[key]

    def measure_solution(self, prepared: PreparedTask, solution: Solution, yardstick: Yardstick) -> Measured:
        """A solution laid over the workspace, taken through the same path as any delivery, with what its manifest grants."""
        with scratch_folder("fdesol") as root:
            workspace = root / "work"
            prepared.copy_site(workspace)
            lay_solution(prepared, solution, workspace, self._sandbox)
            frozen = freeze(workspace, prepared.scenario.file.deployed, root / "frozen")
            obtained = Obtained(
                signoffs=granted_signoffs(prepared, [grant.topic for grant in solution.manifest.granted_signoffs]),
                facts=frozenset(solution.manifest.granted_facts),
            )
            return self.measure(prepared, frozen, obtained, yardstick)

    def _measured(self, prepared: PreparedTask, key: str) -> Yardstick:
        found = self.measure(prepared, prepared.as_found, Obtained(), None)
        provisional = Yardstick(
            kpi_baseline=found.kpi,
            kpi_reference=float("nan"),
            as_found=found.operations,
            as_found_incidents=frozenset((incident.id, incident.key) for incident in found.incidents),
        )
        reference = self.measure_solution(prepared, prepared.scenario.solutions["reference"], provisional)
        yardstick = Yardstick(found.kpi, reference.kpi, provisional.as_found, provisional.as_found_incidents)
        if self._cache is not None:
            # A cache that cannot be written costs time, nothing else.
            with contextlib.suppress(OSError):
                write_whole(self._cache / f"{key}.json", yardstick.to_json())
        return yardstick

    def _stored(self, key: str) -> Yardstick | None:
        if self._cache is None:
            return None
        try:
            return Yardstick.from_json((self._cache / f"{key}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, KeyError, TypeError):
            return None  # Missing, or not whole: measured again.

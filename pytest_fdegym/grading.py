"""Puts a frozen delivery into production on held-out traffic and measures it against the system as found and the reference."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from pytest_fdegym.deployment.freeze import Frozen, freeze
from pytest_fdegym.deployment.host import Deployment
from pytest_fdegym.deployment.moments import Moments
from pytest_fdegym.digests import combined, harness_digest
from pytest_fdegym.errors import InfrastructureFault, ScenarioError
from pytest_fdegym.gateway.models import SIMULATED, Model
from pytest_fdegym.results.files import write_whole
from pytest_fdegym.sandbox.base import Bounds, Layout, Sandbox
from pytest_fdegym.scenario.model import ScenarioFile
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
    gateway_calls: int = 0
    steps: int = 0


class Yardstick(BaseModel):
    """What every delivery on a task under one seed is measured against. Kept as JSON, and read back as strictly as it was made."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    kpi_baseline: float
    kpi_reference: float
    outputs: dict[str, Any]
    """Of the system as found."""
    notes: tuple[str, ...]
    """What was noted of both replays; an undisturbed one usually gives none."""
    incidents: tuple[tuple[str, str], ...]
    """(id, key) of what the system as found commits on the same traffic; the same from a delivery does not count."""
    steps: int
    """Of the replay of the system as found, as :class:`Moments` counts them."""

    @property
    def as_found(self) -> Operations:
        """The operations of the system as found."""
        return Operations(outputs=self.outputs, notes=())


def granted_signoffs(prepared: PreparedTask, topics: Sequence[str]) -> tuple[SignOff, ...]:
    """The sign-offs behind topics (``person/topic``) that a solution is granted, as if given at the first possible moment.

    A topic that the task's variant does not have grants nothing.
    """
    signoffs = []
    for name in topics:
        person_id, _, topic_id = name.partition("/")
        person = prepared.people.people.get(person_id)
        topic = person.topics.get(topic_id) if person is not None else None
        if person is None or topic is None:
            continue
        if topic.signoff is None:
            raise ScenarioError(f"{prepared.id}: people.yaml: the topic {name} gives no sign-off that a solution could be granted")
        given: datetime = max(
            moment
            for moment in (prepared.file.calendar.start, person.away.until if person.away else None, topic.available_at)
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

    def __init__(self, sandbox: Sandbox, cache: Path | None, gateway_model: Model | None = None) -> None:
        """`gateway_model` is a real model that stands behind the customers' gateways in place of the simulated one."""
        self._sandbox = sandbox
        self._cache = cache
        self._gateway_model = gateway_model
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
            gateway = prepared.gateway("production", self._gateway_model, heldout=heldout)
            # Like the traffic, nothing that a delivery can read or compute, and the same for the same delivery.
            key = combined("moments", prepared.digest, prepared.seed, frozen.digest)
            moments = Moments(key, yardstick.steps if yardstick else None)
            with Deployment(frozen.root, prepared.file, prepared.databases, self._sandbox, gateway=gateway, moments=moments) as system:
                operations = prepared.worlds.operate(system, heldout, prepared.world, obtained.signoffs, as_found)
        evidence = Evidence(
            as_found=as_found,
            table_changes=system.table_changes(),
            signoffs=obtained.signoffs,
            contacts=obtained.contacts,
            facts=obtained.facts,
            gateway=gateway.calls if gateway is not None else (),
        )
        measurement = prepared.worlds.measure(operations, heldout, prepared.world, evidence)
        known = frozenset(yardstick.incidents) if yardstick else frozenset()
        return Measured(
            kpi=measurement.kpi,
            incidents=tuple(incident for incident in measurement.incidents if (incident.id, incident.key) not in known),
            operations=operations,
            details=measurement.details,
            notes=(*frozen.notes, *system.notes, *operations.notes),
            gateway_calls=len(evidence.gateway),
            steps=moments.steps,
        )

    def yardstick(self, prepared: PreparedTask) -> Yardstick:
        """What the system as found and the reference gave on this task's traffic; measured once, then kept."""
        key = combined(
            prepared.digest, prepared.seed, harness_digest(), self._sandbox.name, sqlite3.sqlite_version, self.behind_gateway(prepared)
        )
        if key not in self._known:
            self._known[key] = self._stored(key) or self._measured(prepared, key)
        return self._known[key]

    def behind_gateway(self, prepared: PreparedTask) -> str | None:
        """What answers at the customer's LLM gateway, or None where there is none."""
        return self.gateway_of(prepared.file, prepared.variant)

    def gateway_of(self, file: ScenarioFile, variant: str) -> str | None:
        """The same, of a scenario that is not prepared."""
        if file.gateway is None or not file.gateway.exists_in(variant):
            return None
        return SIMULATED if self._gateway_model is None else self._gateway_model.id

    def measure_solution(self, prepared: PreparedTask, solution: Solution, yardstick: Yardstick) -> Measured:
        """A solution laid over the workspace, taken through the same path as any delivery, with what its manifest grants."""
        with scratch_folder("fdesol") as root:
            workspace = root / "work"
            prepared.copy_site(workspace)
            lay_solution(prepared, solution, workspace, self._sandbox)
            frozen = freeze(workspace, prepared.file.deployed, root / "frozen")
            obtained = Obtained(
                signoffs=granted_signoffs(prepared, solution.manifest.signoffs_granted_in(prepared.variant)),
                facts=solution.manifest.facts_granted_in(prepared.variant),
            )
            return self.measure(prepared, frozen, obtained, yardstick)

    def _measured(self, prepared: PreparedTask, key: str) -> Yardstick:
        """Measure, twice where something was noted: what a loaded machine did to these two replays would bend every later score.

        Raises InfrastructureFault when the two measurements differ, and ScenarioError when the scenario's files are no longer those
        from which the task was prepared.
        """
        yardstick = self._once(prepared)
        if yardstick.notes and self._once(prepared) != yardstick:
            raise InfrastructureFault(
                f"{prepared.id}: the replay of the system as found or the reference was disturbed: {yardstick.notes[0]}"
            )
        if prepared.scenario.digest(prepared.variant) != prepared.digest:
            raise ScenarioError(f"{prepared.scenario.folder}: the scenario was changed while it was in use; start again")
        if self._cache is not None:
            # A cache that cannot be written costs time, nothing else.
            with contextlib.suppress(OSError):
                write_whole(self._cache / f"{key}.json", yardstick.model_dump_json())
        return yardstick

    def _once(self, prepared: PreparedTask) -> Yardstick:
        found = self.measure(prepared, prepared.as_found, Obtained(), None)
        incidents = tuple(sorted((incident.id, incident.key) for incident in found.incidents))
        outputs = dict(found.operations.outputs)
        provisional = Yardstick(
            kpi_baseline=found.kpi, kpi_reference=found.kpi, outputs=outputs, notes=(), incidents=incidents, steps=found.steps
        )
        reference = self.measure_solution(prepared, prepared.scenario.solutions["reference"], provisional)
        return provisional.model_copy(update={"kpi_reference": reference.kpi, "notes": (*found.notes, *reference.notes)})

    def _stored(self, key: str) -> Yardstick | None:
        """What was kept under the key; a file that is missing, not whole, or that others may write is measured again."""
        if self._cache is None:
            return None
        path = self._cache / f"{key}.json"
        try:
            with path.open("rb") as file:
                status = os.fstat(file.fileno())
                if status.st_uid != os.geteuid() or status.st_mode & 0o022 or self._cache.stat().st_mode & 0o022:
                    return None
                return Yardstick.model_validate_json(file.read())
        except (OSError, ValueError):
            return None

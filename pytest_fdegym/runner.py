"""One run, top to bottom: build, engage, hand over, deploy, operate, measure, score, record."""

from __future__ import annotations

import traceback
from collections import defaultdict
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import Any

from pytest_fdegym._version import __version__
from pytest_fdegym.agents.command import CommandAgent
from pytest_fdegym.agents.session import Deliverer
from pytest_fdegym.digests import combined, harness_digest
from pytest_fdegym.engage import Delivered, Engagements
from pytest_fdegym.errors import InfrastructureFault
from pytest_fdegym.gateway.models import SIMULATED
from pytest_fdegym.grading import Measured, Yardstick
from pytest_fdegym.observer import Event, Observer, Observers
from pytest_fdegym.results.events import EventLog
from pytest_fdegym.results.handover import handover, packed
from pytest_fdegym.results.patch import delivery_patch
from pytest_fdegym.results.record import AgentIdentity, Engaged, IncidentRecord, KpiName, Record, RunLimits, Scores, Usage
from pytest_fdegym.results.resume import Conditions
from pytest_fdegym.results.store import RunKey
from pytest_fdegym.scoring.uplift import SCORING_VERSION, score, uplift
from pytest_fdegym.scratch import scratch_folder
from pytest_fdegym.settings import Case, Settings
from pytest_fdegym.stopwatch import Stopwatch
from pytest_fdegym.text import kept
from pytest_fdegym.workspace.prepare import PreparedTask

__all__ = ["NOT_STORED", "Case", "Settings", "run"]

NOT_STORED = "the record could not be stored: "
"""How the note begins that a run has when its results folder failed it."""
SHOWN_KEYS = 20
"""Keys of an incident that the record keeps; their number is always kept."""


def run(case: Case, deliverer: Deliverer, settings: Settings, observer: Observer | None = None) -> Record:
    """Give `case` to `deliverer` once and grade what it leaves; the record is stored if the settings have a store, and has a note that
    begins with NOT_STORED where that fails.

    An InfrastructureFault gives a void record. ScenarioError (the author's mistake) and KeyboardInterrupt propagate; whatever else the
    agent or its delivery does is graded.
    """
    key = RunKey(deliverer.identity, case.task, case.level, case.run, case.seed)
    with nullcontext() if settings.store is None else settings.store.open_log(key) as log:
        listeners = Observers([each for each in (log, observer) if each is not None])
        return _run(case, deliverer, settings, listeners, log)


def _run(case: Case, deliverer: Deliverer, settings: Settings, listeners: Observer, log: EventLog | None) -> Record:
    watch = Stopwatch()
    started = datetime.now(UTC)
    with watch.excluded():
        prepared = settings.prepared.get(case.scenario, case.variant, case.seed)
    listeners.notify(
        Event("start", {"task": case.task, "level": case.level, "run": case.run, "seed": case.seed, "agent": deliverer.identity.name})
    )
    behind = settings.grader.behind_gateway(prepared)
    delivered: Delivered | None = None
    measured: Measured | None = None
    yardstick: Yardstick | None = None
    patch = ""
    archive: bytes | None = None
    cause: str | None = None
    spoiled_by: str | None = None
    engagements: Engagements | None = None
    try:
        with watch.excluded():
            # Before the agent works, for an author's mistake must not cost an engagement.
            yardstick = settings.grader.yardstick(prepared)
        with scratch_folder("fde") as root:
            engagements = Engagements(case, deliverer, settings, prepared, root, listeners, watch)
            delivered = engagements.run()
            listeners.notify(Event("handover", {"reason": delivered.ending.reason, "digest": delivered.frozen.digest}))
            patch = delivery_patch(prepared.as_found.root, delivered.frozen.root)
            measured = settings.grader.measure(prepared, delivered.frozen, delivered.obtained, yardstick, watch)
            listeners.notify(Event("replay", _replayed(measured)))
            with watch.excluded():
                archive = None if settings.store is None else _archive(prepared, delivered, _other_notes(behind, delivered))
    except (InfrastructureFault, OSError) as fault:
        # The harness's own trouble with disk, memory or descriptors; what agents and deliveries raise does not come here.
        cause = str(fault) if isinstance(fault, InfrastructureFault) else f"the harness failed: {type(fault).__name__}: {fault}"
        spoiled_by = fault.row if isinstance(fault, InfrastructureFault) else InfrastructureFault.row
        listeners.notify(Event("void", {"cause": cause, "fault": spoiled_by, "traceback": "".join(traceback.format_exception(fault))}))
    if engagements is not None and measured is not None:
        engagements.audit.in_production(measured.notes)
    scores = scores_of(measured, yardstick, delivered.cost) if measured and yardstick and delivered else None
    if scores is not None:
        listeners.notify(Event("grade", scores.model_dump()))
    now = conditions(
        case, deliverer.identity, settings, command=isinstance(deliverer, CommandAgent), content=prepared.digest, gateway=behind
    )
    record = Record(
        harness_version=__version__,
        task=case.task,
        scenario=case.scenario.id,
        variant=case.variant,
        level=case.level,
        sector=case.scenario.file.sector,
        run=case.run,
        seed=case.seed,
        agent=now.agent,
        status="void" if scores is None else "graded",
        void_cause=cause,
        fault=spoiled_by if delivered is None or spoiled_by is not None else delivered.fault,
        kpi=kpi_name(prepared),
        scores=scores,
        incidents=incidents_of(prepared, measured) if measured else (),
        engaged=delivered.engaged if delivered else Engaged(key_facts=prepared.key_facts, worth=case.scenario.worth_in(case.variant)),
        usage=Usage() if engagements is None else engagements.usage,
        end_reason=delivered.ending.reason if delivered else None,
        agent_error=kept(delivered.ending.error) if delivered and delivered.ending.error is not None else None,
        notes=tuple(map(kept, (*measured.notes, *_other_notes(behind, delivered)))) if measured and delivered else (),
        audit=() if engagements is None else engagements.audit.flags,
        details=dict(measured.details) if measured else {},
        isolation=now.isolation,
        router=now.router,
        gateway=now.gateway,
        digest=now.digest,
        world_digest=now.world_digest,
        met_digest=case.scenario.met_digest(case.variant, case.level, prepared.params),
        scoring_version=now.scoring_version,
        delivery_digest=delivered.frozen.digest if delivered else None,
        limits=now.limits,
        metered=now.metered,
        started_at=started,
        wall_seconds=watch.wall_seconds,
        harness_cpu_seconds=watch.harness_cpu_seconds,
    )
    if settings.store is not None and log is not None:
        try:
            settings.store.save(record, log, patch, archive)
        except OSError as fault:
            # What was graded is told all the same; a full disk must not cost the run.
            note = f"{NOT_STORED}{fault.strerror or fault} ({settings.store.directory})"
            return record.model_copy(update={"notes": (*record.notes, note)})
    return record


def conditions(case: Case, agent: AgentIdentity, settings: Settings, *, command: bool, content: str, gateway: str | None) -> Conditions:
    """What a run of `agent` (a `command`, or not) would be made under; `content` is the digest of the scenario's files in the variant,
    `gateway` what answers there."""
    limits = settings.limits
    return Conditions(
        agent=agent,
        digest=combined(content, case.seed, harness_digest()),
        world_digest=combined(content, case.seed),
        scoring_version=SCORING_VERSION,
        isolation=_isolation(settings, command),
        router=settings.router.id,
        gateway=gateway,
        limits=RunLimits(turns=limits.turns, minutes=limits.minutes, usd=limits.usd),
        metered=settings.meter is not None,
    )


def _isolation(settings: Settings, command: bool) -> str:
    """The sandbox, and whether the agent itself was let out to the network."""
    let_out = settings.agent_network == "host" and command and settings.sandbox.way_out != "open"
    return f"{settings.sandbox.name}, agent on the host's network" if let_out else settings.sandbox.name


def _archive(prepared: PreparedTask, delivered: Delivered, other_notes: Sequence[str]) -> bytes | None:
    """What grading the run again needs; None where that is too much."""
    what = handover(
        delivered.obtained,
        delivered.frozen,
        deployed=prepared.file.deployed,
        contact_cost=delivered.cost,
        other_notes=tuple(map(kept, other_notes)),
    )
    try:
        return packed(what, delivered.frozen.root)
    except OSError:  # it was graded already, and is not void for want of a copy
        return None


def scores_of(measured: Measured, yardstick: Yardstick, contact_cost: float) -> Scores:
    """Section 3 of the design. Raises ScenarioError for KPIs that give no score."""
    value = uplift(measured.kpi, yardstick.kpi_baseline, yardstick.kpi_reference)
    result = score(value, contact_cost, incident=bool(measured.incidents))
    return Scores(
        kpi=measured.kpi,
        kpi_baseline=yardstick.kpi_baseline,
        kpi_reference=yardstick.kpi_reference,
        uplift=result.uplift,
        uplift_adjusted=result.uplift_adjusted,
        contact_cost=result.contact_cost,
        score=result.score,
        resolved=result.resolved,
    )


def kpi_name(prepared: PreparedTask) -> KpiName:
    """The customer's number, as a record names it."""
    return KpiName(name=prepared.file.kpi.name, unit=prepared.file.kpi.unit)


def incidents_of(prepared: PreparedTask, measured: Measured) -> tuple[IncidentRecord, ...]:
    """The incidents as a record has them: by id, with what they happened to."""
    by_id: dict[str, list[str]] = defaultdict(list)
    for incident in measured.incidents:
        by_id[incident.id].append(incident.key)
    return tuple(
        IncidentRecord(id=name, text=prepared.file.incidents[name].text, keys=_first(keys), count=len(keys)) for name, keys in by_id.items()
    )


def _other_notes(behind: str | None, delivered: Delivered) -> tuple[str, ...]:
    """What is noted beside the replay."""
    if behind in (None, SIMULATED):
        return delivered.ending.notes
    return (f"{behind} answered at the customer's LLM gateway: this result cannot be compared with others", *delivered.ending.notes)


def _replayed(measured: Measured) -> dict[str, Any]:
    said: dict[str, Any] = {"kpi": measured.kpi, "incidents": len(measured.incidents), "notes": list(measured.notes)}
    return {**said, "gateway_calls": measured.gateway_calls} if measured.gateway_calls else said


def _first(keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(keys[:SHOWN_KEYS])

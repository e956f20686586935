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
from pytest_fdegym.results.patch import delivery_patch
from pytest_fdegym.results.record import Engaged, IncidentRecord, Record, Scores, Usage
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
    except (InfrastructureFault, OSError) as fault:
        # The harness's own trouble with disk, memory or descriptors; what agents and deliveries raise does not come here.
        cause = str(fault) if isinstance(fault, InfrastructureFault) else f"the harness failed: {type(fault).__name__}: {fault}"
        spoiled_by = fault.row if isinstance(fault, InfrastructureFault) else InfrastructureFault.row
        listeners.notify(Event("void", {"cause": cause, "fault": spoiled_by, "traceback": "".join(traceback.format_exception(fault))}))
    scores = _scores(measured, yardstick, delivered) if measured and yardstick and delivered else None
    if scores is not None:
        listeners.notify(Event("grade", scores.model_dump()))
    record = Record(
        harness_version=__version__,
        task=case.task,
        scenario=case.scenario.id,
        variant=case.variant,
        level=case.level,
        sector=case.scenario.file.sector,
        run=case.run,
        seed=case.seed,
        agent=deliverer.identity,
        status="void" if scores is None else "graded",
        void_cause=cause,
        fault=spoiled_by if delivered is None or spoiled_by is not None else delivered.fault,
        scores=scores,
        incidents=_incidents(prepared, measured) if measured else (),
        engaged=delivered.engaged if delivered else Engaged(key_facts=prepared.key_facts),
        usage=Usage() if engagements is None else engagements.usage,
        end_reason=delivered.ending.reason if delivered else None,
        agent_error=kept(delivered.ending.error) if delivered and delivered.ending.error is not None else None,
        notes=tuple(map(kept, (*_notes(measured, behind), *delivered.ending.notes))) if measured and delivered else (),
        details=dict(measured.details) if measured else {},
        isolation=_isolation(settings, deliverer),
        router=settings.router.id,
        gateway=behind,
        digest=combined(prepared.digest, case.seed, harness_digest()),
        world_digest=combined(prepared.digest, case.seed),
        scoring_version=SCORING_VERSION,
        delivery_digest=delivered.frozen.digest if delivered else None,
        started_at=started,
        wall_seconds=watch.wall_seconds,
        harness_cpu_seconds=watch.harness_cpu_seconds,
    )
    if settings.store is not None and log is not None:
        try:
            settings.store.save(record, log, patch)
        except OSError as fault:
            # What was graded is told all the same; a full disk must not cost the run.
            note = f"{NOT_STORED}{fault.strerror or fault} ({settings.store.directory})"
            return record.model_copy(update={"notes": (*record.notes, note)})
    return record


def _isolation(settings: Settings, deliverer: Deliverer) -> str:
    """The sandbox, and whether the agent itself was let out to the network."""
    let_out = settings.agent_network == "host" and isinstance(deliverer, CommandAgent) and settings.sandbox.way_out != "open"
    return f"{settings.sandbox.name}, agent on the host's network" if let_out else settings.sandbox.name


def _scores(measured: Measured, yardstick: Yardstick, delivered: Delivered) -> Scores:
    value = uplift(measured.kpi, yardstick.kpi_baseline, yardstick.kpi_reference)
    result = score(value, delivered.cost, incident=bool(measured.incidents))
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


def _incidents(prepared: PreparedTask, measured: Measured) -> tuple[IncidentRecord, ...]:
    by_id: dict[str, list[str]] = defaultdict(list)
    for incident in measured.incidents:
        by_id[incident.id].append(incident.key)
    return tuple(
        IncidentRecord(id=name, text=prepared.file.incidents[name].text, keys=_first(keys), count=len(keys)) for name, keys in by_id.items()
    )


def _notes(measured: Measured, behind: str | None) -> tuple[str, ...]:
    if behind in (None, SIMULATED):
        return measured.notes
    return (*measured.notes, f"{behind} answered at the customer's LLM gateway: this result cannot be compared with others")


def _replayed(measured: Measured) -> dict[str, Any]:
    said: dict[str, Any] = {"kpi": measured.kpi, "incidents": len(measured.incidents), "notes": list(measured.notes)}
    return {**said, "gateway_calls": measured.gateway_calls} if measured.gateway_calls else said


def _first(keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(keys[:SHOWN_KEYS])

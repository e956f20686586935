"""One run, top to bottom: build, engage, hand over, deploy, operate, measure, score, record."""

from __future__ import annotations

import traceback
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pytest_fdegym._version import __version__
from pytest_fdegym.agents.session import Deliverer, Ending, Session
from pytest_fdegym.channel.server import SOCKET_NAME, Channel, Customer
from pytest_fdegym.deployment.freeze import Frozen, freeze
from pytest_fdegym.digests import combined, harness_digest
from pytest_fdegym.errors import InfrastructureFault
from pytest_fdegym.grading import Grader, Measured, Obtained, Yardstick, granted_signoffs
from pytest_fdegym.limits import Limits, LimitTracker
from pytest_fdegym.observer import Event, Observer, Observers
from pytest_fdegym.people.conversation import Conversation
from pytest_fdegym.people.router.base import Router
from pytest_fdegym.results.patch import delivery_patch
from pytest_fdegym.results.record import Engaged, IncidentRecord, Record, Scores
from pytest_fdegym.results.store import Store
from pytest_fdegym.sandbox.base import Layout, Sandbox
from pytest_fdegym.scenario.model import Level
from pytest_fdegym.scenario.scenario import Scenario
from pytest_fdegym.scoring.uplift import contact_cost, score, uplift
from pytest_fdegym.scratch import scratch_folder
from pytest_fdegym.stopwatch import Stopwatch
from pytest_fdegym.workspace.build import build_workspace
from pytest_fdegym.workspace.prepare import PreparedTask, PreparedTasks

SHOWN_KEYS = 20
"""Keys of an incident that the record keeps; their number is always kept."""


@dataclass(frozen=True)
class Case:
    """A task at a level, to be run once under a seed."""

    scenario: Scenario
    variant: str
    level: Level
    run: int = 1
    seed: int = 1

    @property
    def task(self) -> str:
        """``oil_npt.v1``"""
        return f"{self.scenario.id}.{self.variant}"


@dataclass
class Settings:
    """What the runs of one session share. A context manager; leaving it removes the prepared tasks' folders."""

    sandbox: Sandbox
    router: Router
    store: Store | None = None
    cache: Path | None = None
    """Folder for the KPIs of baselines and references; None measures them in every session."""
    limits: Limits = Limits()
    prepared: PreparedTasks = field(default_factory=PreparedTasks)

    def __post_init__(self) -> None:
        self.grader = Grader(self.sandbox, self.cache)

    def __enter__(self) -> Settings:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.prepared.close()


class _EventLog:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def notify(self, event: Event) -> None:
        self.events.append(event)


@dataclass(frozen=True)
class _Delivered:
    """What is known at handover."""

    ending: Ending
    frozen: Frozen
    obtained: Obtained
    engaged: Engaged
    cost: float


def run(case: Case, deliverer: Deliverer, settings: Settings, observer: Observer | None = None) -> Record:
    """Give `case` to `deliverer` once and grade what it leaves; the record is stored if the settings have a store.

    An InfrastructureFault gives a void record. ScenarioError (the author's mistake) and KeyboardInterrupt propagate; whatever else the
    agent or its delivery does is graded.
    """
    log = _EventLog()
    listeners = Observers([log] if observer is None else [log, observer])
    watch = Stopwatch()
    tracker = LimitTracker(settings.limits)
    started = datetime.now(UTC)
    with watch.excluded():
        prepared = settings.prepared.get(case.scenario, case.variant, case.seed)
    listeners.notify(
        Event("start", {"task": case.task, "level": case.level, "run": case.run, "seed": case.seed, "agent": deliverer.identity.name})
    )
    delivered: _Delivered | None = None
    measured: Measured | None = None
    yardstick: Yardstick | None = None
    patch = ""
    cause: str | None = None
    try:
        with scratch_folder("fde") as root:
            delivered = _engage(case, deliverer, settings, prepared, root, tracker, listeners, watch)
            listeners.notify(Event("handover", {"reason": delivered.ending.reason, "digest": delivered.frozen.digest}))
            patch = delivery_patch(prepared.as_found.root, delivered.frozen.root)
            with watch.excluded():
                yardstick = settings.grader.yardstick(prepared)
            measured = settings.grader.measure(prepared, delivered.frozen, delivered.obtained, yardstick, watch)
            listeners.notify(Event("replay", {"kpi": measured.kpi, "incidents": len(measured.incidents), "notes": list(measured.notes)}))
    except InfrastructureFault as fault:
        cause = str(fault)
        listeners.notify(Event("void", {"cause": cause, "traceback": "".join(traceback.format_exception(fault))}))
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
        scores=scores,
        incidents=_incidents(prepared, measured) if measured else (),
        engaged=delivered.engaged if delivered else Engaged(key_facts=prepared.key_facts),
        usage=tracker.usage,
        end_reason=delivered.ending.reason if delivered else None,
        agent_error=delivered.ending.error if delivered else None,
        notes=measured.notes if measured else (),
        details=dict(measured.details) if measured else {},
        isolation=settings.sandbox.name,
        router=settings.router.id,
        digest=combined(prepared.digest, case.seed, harness_digest()),
        delivery_digest=delivered.frozen.digest if delivered else None,
        started_at=started,
        wall_seconds=watch.wall_seconds,
        harness_cpu_seconds=watch.harness_cpu_seconds,
    )
    if settings.store is not None:
        settings.store.save(record, log.events, patch)
    return record


def _engage(
    case: Case,
    deliverer: Deliverer,
    settings: Settings,
    prepared: PreparedTask,
    root: Path,
    tracker: LimitTracker,
    observer: Observer,
    watch: Stopwatch,
) -> _Delivered:
    """Build the workspace, let the deliverer work in it, and freeze what it leaves."""
    workspace, sockets = root / "work", root / "socket"
    sockets.mkdir(mode=0o755)
    brief = build_workspace(prepared, case.level, workspace, sockets / SOCKET_NAME)
    settings.sandbox.give(workspace)
    conversation = Conversation(prepared.people, prepared.scenario.file.calendar, prepared.facts, settings.router)
    customer = Customer(conversation, tracker, observer)
    with Channel(customer, sockets) as channel:
        session = Session(
            brief=brief,
            workspace=workspace,
            socket=channel.socket,
            sandbox=settings.sandbox,
            layout=Layout(workdir=workspace, writable=(workspace,), sockets=sockets),
            tracker=tracker,
            observer=observer,
            prepared=prepared,
            conversation=conversation,
        )
        with watch.excluded():
            ending = deliverer.deliver(session)
    if customer.fault is not None:
        raise customer.fault
    frozen = freeze(workspace, prepared.scenario.file.deployed, root / "frozen")
    ledger = conversation.ledger
    obtained = Obtained(
        signoffs=(*ledger.signoffs, *granted_signoffs(prepared, ending.granted_signoffs)),
        facts=ledger.facts | frozenset(ending.granted_facts),
        contacts=ledger.to_json()["entries"],
    )
    engaged = Engaged(
        messages=ledger.messages,
        trials=ledger.trials,
        days_waited=ledger.days_waited,
        facts=tuple(sorted(ledger.facts)),
        key_facts=prepared.key_facts,
        signoffs=tuple(signoff.id for signoff in ledger.signoffs),
    )
    return _Delivered(ending, frozen, obtained, engaged, contact_cost(entry.charge for entry in ledger.entries))


def _scores(measured: Measured, yardstick: Yardstick, delivered: _Delivered) -> Scores:
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
        IncidentRecord(id=name, text=prepared.scenario.file.incidents[name].text, keys=_first(keys), count=len(keys))
        for name, keys in by_id.items()
    )


def _first(keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(keys[:SHOWN_KEYS])

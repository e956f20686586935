"""One run, top to bottom: build, engage, hand over, deploy, operate, measure, score, record."""

from __future__ import annotations

import traceback
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_fdegym._version import __version__
from pytest_fdegym.agents.commands import Commands
from pytest_fdegym.agents.session import LIMIT_REASONS, Deliverer, Ending, Session
from pytest_fdegym.channel.client import EngagementOver
from pytest_fdegym.channel.server import Channel, Customer
from pytest_fdegym.deployment.freeze import Frozen, freeze
from pytest_fdegym.digests import combined, harness_digest
from pytest_fdegym.errors import InfrastructureFault, LimitReached
from pytest_fdegym.gateway import client as gateway_client
from pytest_fdegym.gateway.models import SIMULATED, Model
from pytest_fdegym.gateway.server import GatewayServer
from pytest_fdegym.grading import Grader, Measured, Obtained, Yardstick, granted_signoffs
from pytest_fdegym.limits import Limits, LimitTracker
from pytest_fdegym.observer import Event, Observer, Observers
from pytest_fdegym.people.conversation import Conversation
from pytest_fdegym.people.router.base import Router
from pytest_fdegym.results.patch import delivery_patch
from pytest_fdegym.results.record import Engaged, IncidentRecord, Record, Scores, Usage
from pytest_fdegym.results.store import Store
from pytest_fdegym.sandbox.base import Layout, Sandbox
from pytest_fdegym.scenario.model import Level
from pytest_fdegym.scenario.scenario import Scenario
from pytest_fdegym.scenario.world import GatewayCall
from pytest_fdegym.scoring.uplift import contact_cost, score, uplift
from pytest_fdegym.scratch import scratch_folder
from pytest_fdegym.stopwatch import Stopwatch
from pytest_fdegym.text import kept
from pytest_fdegym.trials import Trials
from pytest_fdegym.workspace.build import build_workspace
from pytest_fdegym.workspace.prepare import PreparedTask, PreparedTasks

SHOWN_CALL = 4000
"""Characters that the event log keeps of a gateway's request and answer."""
NOT_STORED = "the record could not be stored: "
"""How the note begins that a run has when its results folder failed it."""
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
    gateway_model: Model | None = None
    """A real model behind the customers' LLM gateways; None for the simulated ones."""

    def __post_init__(self) -> None:
        self.grader = Grader(self.sandbox, self.cache, self.gateway_model)

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
    """Give `case` to `deliverer` once and grade what it leaves; the record is stored if the settings have a store, and has a note that
    begins with NOT_STORED where that fails.

    An InfrastructureFault gives a void record. ScenarioError (the author's mistake) and KeyboardInterrupt propagate; whatever else the
    agent or its delivery does is graded.
    """
    log = _EventLog()
    listeners = Observers([log] if observer is None else [log, observer])
    watch = Stopwatch()
    started = datetime.now(UTC)
    with watch.excluded():
        prepared = settings.prepared.get(case.scenario, case.variant, case.seed)
    listeners.notify(
        Event("start", {"task": case.task, "level": case.level, "run": case.run, "seed": case.seed, "agent": deliverer.identity.name})
    )
    behind = settings.grader.behind_gateway(prepared)
    delivered: _Delivered | None = None
    measured: Measured | None = None
    yardstick: Yardstick | None = None
    patch = ""
    cause: str | None = None
    tracker: LimitTracker | None = None
    try:
        with watch.excluded():
            # Before the agent works, for an author's mistake must not cost an engagement.
            yardstick = settings.grader.yardstick(prepared)
        tracker = LimitTracker(settings.limits)
        with scratch_folder("fde") as root:
            delivered = _engage(case, deliverer, settings, prepared, root, tracker, listeners, watch)
            listeners.notify(Event("handover", {"reason": delivered.ending.reason, "digest": delivered.frozen.digest}))
            patch = delivery_patch(prepared.as_found.root, delivered.frozen.root)
            measured = settings.grader.measure(prepared, delivered.frozen, delivered.obtained, yardstick, watch)
            listeners.notify(Event("replay", _replayed(measured)))
    except (InfrastructureFault, OSError) as fault:
        # The harness's own trouble with disk, memory or descriptors; what agents and deliveries raise does not come here.
        cause = str(fault) if isinstance(fault, InfrastructureFault) else f"the harness failed: {type(fault).__name__}: {fault}"
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
        usage=tracker.usage if tracker is not None else Usage(),
        end_reason=delivered.ending.reason if delivered else None,
        agent_error=kept(delivered.ending.error) if delivered and delivered.ending.error is not None else None,
        notes=tuple(map(kept, _notes(measured, behind))) if measured else (),
        details=dict(measured.details) if measured else {},
        isolation=settings.sandbox.name,
        router=settings.router.id,
        gateway=behind,
        digest=combined(prepared.digest, case.seed, harness_digest()),
        delivery_digest=delivered.frozen.digest if delivered else None,
        started_at=started,
        wall_seconds=watch.wall_seconds,
        harness_cpu_seconds=watch.harness_cpu_seconds,
    )
    if settings.store is not None:
        try:
            settings.store.save(record, log.events, patch)
        except OSError as fault:
            # What was graded is told all the same; a full disk must not cost the run.
            note = f"{NOT_STORED}{fault.strerror or fault} ({settings.store.directory})"
            return record.model_copy(update={"notes": (*record.notes, note)})
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
    brief = build_workspace(prepared, case.level, workspace, sockets)
    settings.sandbox.give(workspace)
    conversation = Conversation(prepared.people, prepared.file.calendar, prepared.facts, settings.router)
    trials = Trials(prepared, workspace, settings.sandbox, conversation, settings.gateway_model)
    customer = Customer(conversation, tracker, observer, trials.run)
    with Channel(customer, sockets) as channel, _gateway_at_work(prepared, settings, sockets, observer) as environment:
        layout = Layout(workdir=workspace, writable=(workspace,), sockets=sockets, environment=environment)
        commands = Commands(settings.sandbox, layout, tracker)
        session = Session(
            brief=brief,
            workspace=workspace,
            socket=channel.socket,
            sandbox=settings.sandbox,
            commands=commands,
            tracker=tracker,
            observer=observer,
            prepared=prepared,
            conversation=conversation,
        )
        with watch.excluded():
            try:
                ending = deliverer.deliver(session)
            except EngagementOver:
                # The expert does not catch it, as adapters of agents do.
                if customer.fault is None:
                    raise
                raise customer.fault from None
            finally:
                commands.close()
    if customer.fault is not None:
        raise customer.fault
    ending = _limited(ending, customer, tracker)
    _look_into(workspace)
    frozen = freeze(workspace, prepared.file.deployed, root / "frozen")
    ledger = conversation.ledger
    obtained = Obtained(
        signoffs=(*ledger.signoffs, *granted_signoffs(prepared, ending.granted_signoffs)),
        facts=ledger.facts | (frozenset(ending.granted_facts) & frozenset(prepared.facts)),
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


def _look_into(workspace: Path) -> None:
    """Make sure that there is a folder to look into: the agent may have closed it, or put something else in its place."""
    if workspace.is_symlink() or (workspace.exists() and not workspace.is_dir()):
        workspace.unlink()
    workspace.mkdir(exist_ok=True)
    workspace.chmod(0o700)


def _limited(ending: Ending, customer: Customer, tracker: LimitTracker) -> Ending:
    """The ending with the limit that was used up, also where the agent noticed it and returned of its own."""
    if ending.reason != "handover":
        return ending
    try:
        tracker.check()
    except LimitReached as reached:
        return replace(ending, reason=LIMIT_REASONS[reached.reason])
    return ending if customer.limit is None else replace(ending, reason=LIMIT_REASONS[customer.limit])


@contextmanager
def _gateway_at_work(prepared: PreparedTask, settings: Settings, sockets: Path, observer: Observer) -> Iterator[dict[str, str]]:
    """Serve the company's gateway, where there is one, to the agent at work; gives what its commands find in their environment.

    Raises what the model behind it failed with.
    """

    def told(call: GatewayCall) -> None:
        observer.notify(Event("gateway", {"text": call.text[:SHOWN_CALL], "answer": call.answer[:SHOWN_CALL], "usd": call.usd}))

    service = prepared.gateway("work", settings.gateway_model, told=told)
    if service is None:
        yield {}
        return
    with service.open(), GatewayServer(service, sockets) as server:
        yield {gateway_client.VARIABLE: str(server.socket)}


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

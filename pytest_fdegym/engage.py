"""The engagement of a run: builds the workspace, lets the agent work in it until it hands over or is stopped, freezes what it leaves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_fdegym.acts import Acts
from pytest_fdegym.agents.command import CommandAgent
from pytest_fdegym.agents.commands import Commands
from pytest_fdegym.agents.faults import fault_seen
from pytest_fdegym.agents.session import LIMIT_REASONS, Deliverer, Ending, Session, Surroundings
from pytest_fdegym.audit import Audit, texts_below
from pytest_fdegym.channel.client import EngagementOver
from pytest_fdegym.channel.server import Channel, Customer
from pytest_fdegym.deployment.freeze import Frozen, freeze
from pytest_fdegym.errors import InfrastructureFault, LimitReached, ModelFault
from pytest_fdegym.gateway import client as gateway_client
from pytest_fdegym.gateway.server import GatewayServer
from pytest_fdegym.gateway.service import Service
from pytest_fdegym.grading import Obtained, granted_signoffs
from pytest_fdegym.limits import LimitTracker
from pytest_fdegym.observer import Event, Observer, Observers
from pytest_fdegym.outcomes import outcome, voids
from pytest_fdegym.people.conversation import Conversation
from pytest_fdegym.people.ledger import Ledger
from pytest_fdegym.results.record import Engaged, Usage
from pytest_fdegym.sandbox.base import Layout
from pytest_fdegym.scenario.model import PeopleFile
from pytest_fdegym.scenario.world import GatewayCall
from pytest_fdegym.scoring.uplift import contact_cost
from pytest_fdegym.scratch import remove_tree
from pytest_fdegym.settings import Case, Settings
from pytest_fdegym.stopwatch import Stopwatch
from pytest_fdegym.trials import Trials
from pytest_fdegym.workspace.build import build_workspace
from pytest_fdegym.workspace.prepare import PreparedTask

SHOWN_CALL = 4000
"""Characters that the event log keeps of a gateway's request and answer."""
PAUSE_SECONDS = 2.0
"""Before an engagement is begun again; doubled for each further time."""
_SETTLE_SECONDS = 0.3
"""How long a request that is being answered is waited for once a limit is reached."""
UNANSWERED = "A request to the customer was still being answered when the limit was reached; it does not count."


@dataclass(frozen=True)
class Delivered:
    """What is known at handover. `fault` is what ended the engagement, as a row of the outcomes; None for a handover."""

    ending: Ending
    frozen: Frozen
    obtained: Obtained
    engaged: Engaged
    cost: float
    fault: str | None


class Engagements:
    """The engagement of one run, begun again where something spoiled it before the agent had acted."""

    def __init__(
        self,
        case: Case,
        deliverer: Deliverer,
        settings: Settings,
        prepared: PreparedTask,
        root: Path,
        observer: Observer,
        watch: Stopwatch,
    ) -> None:
        self._case, self._deliverer, self._settings, self._prepared = case, deliverer, settings, prepared
        self._root, self._observer, self._watch = root, observer, watch
        self._tracker: LimitTracker | None = None
        self.audit = Audit()
        """Of the last one."""

    @property
    def usage(self) -> Usage:
        """Of the last one; there is none in those before."""
        return Usage() if self._tracker is None else self._tracker.usage

    def run(self) -> Delivered:
        """Raises InfrastructureFault for what makes the run void, and ScenarioError for the author's mistakes."""
        again = 0
        while True:
            acts, self._tracker = Acts(), LimitTracker(self._settings.limits)
            try:
                return self._once(self._tracker, acts)
            except InfrastructureFault as fault:
                if again >= self._settings.retries or outcome(fault.row).retried == "no" or acts.seen(self._tracker):
                    raise
                again += 1
                self._observer.notify(Event("retry", {"retry": again, "fault": fault.row, "cause": str(fault)}))
            for left in self._root.iterdir():
                remove_tree(left)
            self._settings.sleep(PAUSE_SECONDS * 2 ** (again - 1))

    def _once(self, tracker: LimitTracker, acts: Acts) -> Delivered:
        prepared, settings, root = self._prepared, self._settings, self._root
        surroundings = _surroundings(self._case, settings, prepared)
        self.audit = Audit(
            own=(str(root),),
            secret=tuple(map(str, (*surroundings.hidden, prepared.directory))),
            commands=not isinstance(self._deliverer, CommandAgent),
        )
        observer = Observers([acts, self.audit, self._observer])
        workspace, sockets = root / "work", root / "socket"
        sockets.mkdir(mode=0o755)
        brief = build_workspace(prepared, self._case.level, workspace, sockets)
        settings.sandbox.give(workspace)
        acts.begin(workspace)
        conversation = Conversation(prepared.people, prepared.file.calendar, prepared.facts, settings.router)
        trials = Trials(prepared, workspace, settings.sandbox, conversation, settings.gateway_model)
        customer = Customer(conversation, tracker, observer, trials.run)
        with ExitStack() as open_ways, tracker:
            channel = open_ways.enter_context(Channel(customer, sockets))
            gateway = open_ways.enter_context(_gateway_at_work(prepared, settings, sockets, observer))
            account = None if settings.meter is None else open_ways.enter_context(settings.meter.attributed(tracker, observer))
            layout = Layout(workdir=workspace, writable=(workspace,), sockets=sockets, environment=gateway.environment)
            commands = Commands(settings.sandbox, layout, tracker)

            def stop(limit: str) -> None:
                commands.end()
                trials.end()
                gateway.close()
                try:
                    customer.end_at_limit(limit)
                except Exception as error:  # of somebody who listens; this may be a thread that has no one to tell
                    customer.fault = customer.fault or InfrastructureFault(f"an observer failed: {type(error).__name__}: {error}")

            customer.on_fault = commands.end
            tracker.on_reached(stop)
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
                account=account,
                surroundings=surroundings,
            )
            with self._watch.excluded():
                ending = _delivered(self._deliverer, session, customer)
            customer.end("the engagement is over: the system was handed over")
            settled = _settled(customer, tracker)
            ending = _limited(ending, tracker)
        if customer.fault is not None:
            raise customer.fault
        if commands.fault is not None:
            raise commands.fault
        fault = _fault(ending, session)
        if not settled:
            ending = replace(ending, notes=(*ending.notes, UNANSWERED))
        return self._taken_over(ending, fault, workspace, conversation)

    def _taken_over(self, ending: Ending, fault: str | None, workspace: Path, conversation: Conversation) -> Delivered:
        prepared, ledger = self._prepared, conversation.ledger
        _look_into(workspace)
        frozen = freeze(workspace, prepared.file.deployed, self._root / "frozen")
        self._looked_through(frozen, ledger)
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
            worth=prepared.scenario.worth_in(prepared.variant),
            signoffs=tuple(signoff.id for signoff in ledger.signoffs),
        )
        return Delivered(ending, frozen, obtained, engaged, contact_cost(entry.charge for entry in ledger.entries), fault)

    def _looked_through(self, frozen: Frozen, ledger: Ledger) -> None:
        """Let the audit see what was left, and what was said."""
        prepared = self._prepared
        self.audit.delivered(frozen.left_out, texts_below(frozen.root), texts_below(prepared.as_found.root))
        references, sent = _approvals(prepared.people), [entry.sent for entry in ledger.entries]
        if any(reference in text for reference in references.values() for text in sent):
            known = [prepared.brief(self._case.level), *texts_below(prepared.site).values()]
            self.audit.cited((entry.to_json() for entry in ledger.entries), references, "\n".join(known))


def _approvals(people: PeopleFile) -> dict[str, str]:
    """The references of all approvals, by their ids."""
    topics = (topic for person in people.people.values() for topic in person.topics.values())
    return {topic.signoff.id: topic.signoff.reference for topic in topics if topic.signoff is not None}


def _delivered(deliverer: Deliverer, session: Session, customer: Customer) -> Ending:
    try:
        return deliverer.deliver(session)
    except (EngagementOver, LimitReached):
        # The expert does not catch them, as adapters of agents do.
        if customer.fault is not None:
            raise customer.fault from None
        if session.tracker.reached is None:
            raise
        return Ending()
    finally:
        session.commands.close()


def _settled(customer: Customer, tracker: LimitTracker) -> bool:
    """Wait for a request of a thread of the agent's that is still being answered: to its end, or for a moment once a limit is reached."""
    while not customer.settled(_SETTLE_SECONDS):
        if tracker.reached is not None:
            return customer.settled(_SETTLE_SECONDS)
    return True


def _limited(ending: Ending, tracker: LimitTracker) -> Ending:
    """The ending with the limit that was used up, whatever the agent made of it."""
    return ending if tracker.reached is None else replace(ending, reason=LIMIT_REASONS[tracker.reached], fault=None)


def _fault(ending: Ending, session: Session) -> str | None:
    """What ended the engagement. Raises ModelFault where it was the agent's model provider that failed.

    The metering proxy's word counts when the agent failed after it, or handed over without a single answer of its model.
    """
    if ending.reason not in ("handover", "agent_error", "agent_exit"):
        return ending.reason
    row, cause = ending.fault, ending.cause
    seen = session.account.last_fault if session.account is not None else None
    if row is None and seen is not None and (ending.reason != "handover" or not session.tracker.usage.turns):
        found = fault_seen(seen)
        row, cause = found.row, found.text
    if row is not None and voids(row):
        raise ModelFault(row, f"the agent's model provider failed ({row}): {cause}")
    return row if row is not None or ending.reason == "handover" else ending.reason


@dataclass(frozen=True)
class _GatewayAtWork:
    environment: dict[str, str]
    service: Service | None = None

    def close(self) -> None:
        if self.service is not None:
            self.service.close()


@contextmanager
def _gateway_at_work(prepared: PreparedTask, settings: Settings, sockets: Path, observer: Observer) -> Iterator[_GatewayAtWork]:
    """Serve the company's gateway, where there is one, to the agent at work. Raises what the model behind it failed with."""

    def told(call: GatewayCall) -> None:
        observer.notify(Event("gateway", {"text": call.text[:SHOWN_CALL], "answer": call.answer[:SHOWN_CALL], "usd": call.usd}))

    service = prepared.gateway("work", settings.gateway_model, told=told)
    if service is None:
        yield _GatewayAtWork({})
        return
    with service.open(), GatewayServer(service, sockets) as server:
        yield _GatewayAtWork({gateway_client.VARIABLE: str(server.socket)}, service)


def _surroundings(case: Case, settings: Settings, prepared: PreparedTask) -> Surroundings:
    known = [case.scenario.folder, prepared.as_found.root, settings.cache, None if settings.store is None else settings.store.directory]
    return Surroundings(settings.agent_network, (*settings.hidden, *(place for place in known if place is not None)), settings.kept)


def _look_into(workspace: Path) -> None:
    """Make sure that there is a folder to look into: the agent may have closed it, or put something else in its place."""
    if workspace.is_symlink() or (workspace.exists() and not workspace.is_dir()):
        workspace.unlink()
    workspace.mkdir(exist_ok=True)
    workspace.chmod(0o700)

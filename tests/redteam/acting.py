"""Agents that attack: in Python, by what their tools run, or as a command; and whether what they were charged is what the script says."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from pytest_fdegym.agents.command import CommandAgent
from pytest_fdegym.agents.engagement import Engagement
from pytest_fdegym.agents.python import PythonAgent
from pytest_fdegym.agents.session import Deliverer, Ending, Session
from pytest_fdegym.grading import lay_solution
from pytest_fdegym.people.conversation import Conversation
from pytest_fdegym.people.ledger import Entry
from pytest_fdegym.results.record import AgentIdentity
from pytest_fdegym.scenario.model import Calendar, PeopleFile, Trial
from tests.redteam.delivering import MODULE, UNSIGNED, module_text
from tests.redteam.spying import SpiedSandbox, Spy

Given = Mapping[str, object]
LATE_SECONDS = 20.0
"""How long an agent waits for its handover, or is waited for after it."""


@dataclass
class Hand:
    """What an attacking agent has beside its engagement: it knows the scenario by heart, and may tell what it got."""

    session: Session
    given: Given
    spy: Spy
    runs: int = 0
    """How many runs this agent has seen before."""
    threads: list[threading.Thread] = field(default_factory=list)

    def got(self, what: object) -> None:
        """Tell of something that should be out of reach."""
        self.spy.told.append(("got", str(what)[:300]))

    def stopped(self, by: object) -> None:
        """Tell what stopped an attempt."""
        self.spy.told.append(("stopped", str(by)[:300]))

    def lay(self, solution: str = "reference") -> None:
        """Put a solution into the workspace."""
        prepared = self.session.prepared
        lay_solution(prepared, prepared.scenario.solutions[solution], self.session.workspace, self.session.sandbox)
        self.session.sandbox.give(self.session.workspace)

    def write(self, path: str, text: str) -> None:
        """Write a file of the workspace, as the agent's editor would."""
        target = self.session.workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def lay_module(self, code: str) -> None:
        """Lay `code` with its prelude into the workspace."""
        self.write(f"{MODULE}.py", module_text(code, self.given))
        self.session.sandbox.give(self.session.workspace)

    @property
    def people(self) -> PeopleFile:
        return self.session.prepared.people

    @property
    def references(self) -> list[str]:
        """What people write under an approval, as somebody knows it who has worked here before."""
        signed = [topic.signoff for person in self.people.people.values() for topic in person.topics.values() if topic.signoff]
        return [signoff.reference or signoff.id for signoff in signed]

    def expert(self) -> list[tuple[str, str]]:
        """What the expert says to whom."""
        steps = self.people.expert
        return [(step.ask, step.say) for step in steps if step.ask is not None and step.say is not None]

    def late(self, act: Callable[[], object]) -> None:
        """Do something as soon as the delivery has been taken over."""
        handed_over = self.session.workspace.parent / "frozen"

        def wait() -> None:
            end = time.monotonic() + LATE_SECONDS
            while not handed_over.exists() and time.monotonic() < end:
                time.sleep(0.002)
            try:
                act()
            except Exception as error:
                self.stopped(f"{type(error).__name__}: {error}")

        self.start(wait)

    def start(self, act: Callable[[], object]) -> None:
        """A thread of the agent's own."""
        thread = threading.Thread(target=act, daemon=True, name="of the agent")
        self.threads.append(thread)
        thread.start()

    @contextmanager
    def connection(self, path: Path | None = None) -> Iterator[UnixConnection]:
        """A connection to the customer's socket, or to another one."""
        connection = UnixConnection(path or self.session.socket)
        try:
            yield connection
        finally:
            connection.close()


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket, as bad as one likes."""

    def __init__(self, path: Path) -> None:
        super().__init__("customer", timeout=LATE_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(LATE_SECONDS)
        self.sock.connect(str(self._path))

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Send a request (`body` as it is, or as JSON); returns status and JSON."""
        self.request(method, path, body if body is None or isinstance(body, bytes) else json.dumps(body).encode())
        response = self.getresponse()
        return response.status, json.loads(response.read())


Act = Callable[[Engagement, Hand], object]
Agent = Callable[[AgentIdentity, Hand], Deliverer]


class Acting:
    """A Deliverer that lays a base without its sign-offs and then lets an agent do what it likes."""

    def __init__(self, given: Given, base: str, agent: Agent) -> None:
        self.identity = AgentIdentity(name="redteam agent")
        self._given, self._base, self._agent = given, base.removeprefix(UNSIGNED), agent
        self._hand: Hand | None = None
        self._runs = 0

    def deliver(self, session: Session) -> Ending:
        sandbox = session.sandbox
        assert isinstance(sandbox, SpiedSandbox)
        given = {**self._given, "workspace": str(session.workspace)}
        self._hand = hand = Hand(session, given, sandbox.spy, self._runs)
        self._runs += 1
        if self._base != "as_found":
            hand.lay(self._base)
        return self._agent(self.identity, hand).deliver(session)

    def settle(self, spy: Spy) -> None:
        """Wait for what the agent does after its handover, and look at what it was charged."""
        if self._hand is None:
            return
        for thread in self._hand.threads:
            thread.join(LATE_SECONDS)
        session = self._hand.session
        spy.odd += charged_wrongly(
            session.conversation, session.prepared.people, session.prepared.file.calendar, session.prepared.file.trial
        )


def by_python(act: Act, base: str = "as_found") -> Callable[[Given], Deliverer]:
    """An agent in Python, trusted by its user; what it does over the channel and with its tools is what is tried."""
    return lambda given: Acting(given, base, as_python(act))


def by_tool(code: str, base: str = "as_found") -> Callable[[Given], Deliverer]:
    """An agent whose tool runs `code`; see prelude.py for what that has."""
    return lambda given: Acting(given, base, as_tool(code))


def by_command(code: str, base: str = "as_found") -> Callable[[Given], Deliverer]:
    """An agent that is a command: `code`, in the view of this machine that such agents have."""
    return lambda given: Acting(given, base, as_command(code))


def as_python(act: Act) -> Agent:
    """See `by_python`."""

    def agent(identity: AgentIdentity, hand: Hand) -> Deliverer:
        def work(engagement: Engagement) -> object:
            hand.spy.told.append(("ran", ""))
            return act(engagement, hand)

        return PythonAgent(identity, work)

    return agent


def as_tool(code: str) -> Agent:
    """See `by_tool`."""

    def act(engagement: Engagement, hand: Hand) -> None:
        hand.lay_module(code)
        result = engagement.run(["python3", f"{MODULE}.py"], seconds=30)
        hand.stopped(f"exit code {result.exit_code} {result.stderr[-200:]}")

    return as_python(act)


def as_command(code: str) -> Agent:
    """See `by_command`."""

    def agent(identity: AgentIdentity, hand: Hand) -> Deliverer:
        hand.lay_module(code)
        return CommandAgent(identity, f"exec python3 {MODULE}.py")

    return agent


def charged_wrongly(conversation: Conversation, people: PeopleFile, calendar: Calendar, trial: Trial | None) -> list[str]:
    """How the ledger's charges differ from what the script says of the same contacts, worked out once more and in another way."""
    found, replies, trials, total = list[str](), dict[str, int](), 0, Decimal(0)
    for before, entry in zip((None, *conversation.ledger.entries), conversation.ledger.entries, strict=False):
        if before is not None and entry.sent_at < before.answered_at:
            found.append(f"contact {entry.number} was made before the one before it was over")
        if entry.kind == "trial":
            assert trial is not None
            expected = Decimal(repr(trial.charges[min(trials, len(trial.charges) - 1)]))
            trials += 1
        elif entry.kind == "wait":
            expected = _working_days(calendar, entry) * Decimal(repr(calendar.waited_day_charge))
        elif entry.kind == "message":
            expected = _of_a_reply(people, entry, replies)
        else:
            expected = Decimal(0)
        if Decimal(repr(entry.charge)) != expected:
            found.append(f"contact {entry.number} ({entry.kind}) was charged {entry.charge}, and is worth {expected}")
        total += expected
    if (
        Decimal(repr(conversation.ledger.contact_cost)) != total.normalize()
        and abs(float(total) - conversation.ledger.contact_cost) > 1e-12
    ):
        found.append(f"all contacts cost {conversation.ledger.contact_cost}, and are worth {total}")
    return found


def _of_a_reply(people: PeopleFile, entry: Entry, replies: dict[str, int]) -> Decimal:
    assert entry.person is not None
    person = people.people[entry.person]
    if entry.reply_kind == "automatic":
        return Decimal(0)
    before = replies.get(entry.person, 0)
    if person.restricted is not None:
        replies[entry.person] = before + 1
        return Decimal(repr(person.restricted.charge))
    if entry.reply_kind not in ("answer", "miss", "fallback"):
        return Decimal(0)
    replies[entry.person] = before + 1
    factor = Decimal(repr(person.impatience_factor)) if before >= person.patience else Decimal(1)
    return (Decimal(repr(person.rate)) * factor).normalize()


def _working_days(calendar: Calendar, entry: Entry) -> int:
    """Ends of working days that the wait passed."""
    days = {(entry.sent_at.date().fromordinal(number)) for number in range(entry.sent_at.toordinal(), entry.answered_at.toordinal() + 1)}
    return sum(
        day.isoweekday() in calendar.weekdays and entry.sent_at < (end := _end_of(calendar, day)) and end <= entry.answered_at
        for day in days
    )


def _end_of(calendar: Calendar, day: date) -> datetime:
    return datetime.combine(day, calendar.day_ends)

"""The customer's people over one engagement: a pure state machine of messages, waits, mail and trials.

The same script, router and requests give the same ledger. There is no wall clock and no randomness; the simulated clock (`now`) moves
only by charged replies (`message_minutes`), waits and trials. Not safe for threads: whoever serves an agent asks one thing at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pytest_fdegym.people.asked import Asked, follow_ups, taken_up, trusted
from pytest_fdegym.people.bad_request import MAX_MESSAGE, BadRequest, check_days, check_message, check_moment, check_person
from pytest_fdegym.people.calendar import days_skipped, finished_at, working_morning
from pytest_fdegym.people.charges import reply_charge, wait_charge
from pytest_fdegym.people.check import check_script
from pytest_fdegym.people.gates import Shown, holds, look, merged
from pytest_fdegym.people.inbox import Mail, arrived
from pytest_fdegym.people.judging import judged
from pytest_fdegym.people.ledger import Entry, Ledger, ReplyKind, exact
from pytest_fdegym.people.memory import FREE_READS, Memory
from pytest_fdegym.people.presence import automatic_reply, open_topics
from pytest_fdegym.people.reading import read
from pytest_fdegym.people.router.base import Decisions, Judge, RoutablePerson, Router, RouterContext, Routing
from pytest_fdegym.people.router.faults import as_router_fault
from pytest_fdegym.people.topics import Part, exclusive, speak
from pytest_fdegym.people.wording import joined, question_back
from pytest_fdegym.scenario.model import Calendar, Condition, FactSpec, PeopleFile, Person, Topic
from pytest_fdegym.scenario.world import SignOff

__all__ = ["MAX_MESSAGE", "BadRequest", "Conversation", "Mail", "PersonCard", "Reply", "WaitResult"]


@dataclass(frozen=True)
class PersonCard:
    """What the staff directory says of a person."""

    id: str
    name: str
    role: str
    directory: str


@dataclass(frozen=True)
class Reply:
    """A reply. The agent may see person, text, sent_at and answered_at; `kind` is for the ledger."""

    person: str
    text: str
    kind: ReplyKind
    sent_at: datetime
    answered_at: datetime


@dataclass(frozen=True)
class WaitResult:
    """A wait that is over. `working_days` are those skipped; `new_mail` how many unread messages are in the inbox now."""

    began_at: datetime
    now: datetime
    working_days: int
    new_mail: int


@dataclass(frozen=True)
class _Said:
    """A reply before it is priced and dated, and what the person remembers after it."""

    text: str
    kind: ReplyKind
    memory: Memory
    topics: tuple[str, ...] = ()
    answered: tuple[Part, ...] = ()
    detail: Mapping[str, Any] | None = None


class Conversation:
    """Everything that an agent and the customer's people say to each other in one run.

    `people` and `facts` are filled in and limited to the variant; ScenarioError names what could not be played. A router that is a Judge
    as well is asked about the evidence that the patterns do not find in a message.
    """

    def __init__(self, people: PeopleFile, calendar: Calendar, facts: Mapping[str, FactSpec], router: Router) -> None:
        check_script(people, calendar, facts)
        self._people = people.people
        self._inbox = people.inbox
        self._calendar = calendar
        self._router = router
        self._judge = router if isinstance(router, Judge) else None
        self._now = calendar.start
        self._ledger = Ledger()
        self._memories = {name: Memory() for name in self._people}
        self._gates = {name: tuple(_gates(person)) for name, person in self._people.items()}
        self._read: frozenset[str] = frozenset()

    @property
    def now(self) -> datetime:
        """The simulated time."""
        return self._now

    @property
    def ledger(self) -> Ledger:
        """What has happened so far; a later call gives a new ledger, this one stays as it is."""
        return self._ledger

    def directory(self) -> list[PersonCard]:
        """The staff directory, in the author's order."""
        return [PersonCard(name, person.name, person.role, person.directory) for name, person in self._people.items()]

    def ask(self, person: str, message: str) -> Reply:
        """Send `message` to the person with that id and get the reply.

        BadRequest (no charge, no time) for an unknown id or a message that is empty, too long or no plain text. Somebody who has left
        or is away answers automatically: free, no time, and the message stays unread (its evidence does not count later). A restricted
        contact is charged its own charge, whatever is said. Otherwise one message is one charge and takes `message_minutes` if the
        reply holds an answer, a miss (of evidence or of something required: refusing takes the person's time, too) or the fallback.
        A reply of nothing but stalls, "not yet" or a question back is free and takes no time.
        """
        check_person(person, self._people)
        check_message(message)
        who = self._people[person]
        automatic = automatic_reply(who, self._ledger, self._now)
        if automatic is not None:
            return self._record(person, message, _Said(automatic, "automatic", self._memories[person]), charged=False, charge=0.0)
        restricted = who.restricted
        if restricted is not None and not restricted.still_answers:
            said = _Said(restricted.reply, "restricted", self._memories[person])
        else:
            said = self._answer(person, who, message, always_charged=restricted is not None)
        if restricted is not None:
            return self._record(person, message, said, charged=True, charge=restricted.charge)
        charged = said.kind in ("answer", "miss", "fallback")
        charge = reply_charge(who, self._ledger.charged_to(person)) if charged else 0.0
        return self._record(person, message, said, charged=charged, charge=charge)

    def wait_until(self, moment: datetime) -> WaitResult:
        """Let time pass until `moment` (any time of day). Working days skipped are charged, see ``calendar.days_skipped``.

        BadRequest for a moment that is past or more than MAX_WAIT_DAYS away; waiting until now changes nothing.
        """
        check_moment(moment, self._now)
        return self._wait(moment)

    def wait_days(self, n: int) -> WaitResult:
        """Wait until the n-th working morning from now. BadRequest unless 1 <= n <= MAX_WAIT_DAYS."""
        check_days(n)
        return self._wait(working_morning(self._calendar, self._now, n))

    def inbox(self) -> list[Mail]:
        """All mail that has arrived by now, in order of arrival. Reading is free, takes no time, and releases the facts in it."""
        fresh: set[str] = set()
        # A fact in one message may be what another waits for.
        while unread := [pair for pair in self._arrived() if pair[0] not in self._read]:
            for name, at in unread:
                mail = self._inbox[name]
                sender = mail.sender if mail.sender in self._people else None
                text = f"{mail.subject}\n\n{mail.text}"
                self._ledger = self._ledger.added(Entry(0, "inbox", at, self._now, person=sender, reply=text, facts=mail.facts))
            fresh |= {name for name, _ in unread}
            self._read = self._read.union(fresh)
        return [
            Mail(name, self._name_of(mail.sender), mail.subject, mail.text, at, name in fresh)
            for name, at in self._arrived()
            for mail in (self._inbox[name],)
        ]

    def record_trial(self, report: str, feedback: str, charge: float, minutes: int = 0) -> None:
        """Note a trial run (`report` is its id) with its charge; the clock moves by `minutes` of working time, if at all."""
        if not 0 <= charge < float("inf"):
            raise ValueError(f"a charge of at least 0 is expected, found {charge!r}")
        done = finished_at(self._calendar, self._now, minutes)
        entry = Entry(0, "trial", self._now, done, sent=report, reply=feedback, charge=float(charge), charged=charge > 0)
        self._ledger = self._ledger.added(entry)
        self._now = done

    def gate(self, person: str, topic: str) -> dict[str, bool]:
        """What a topic asks for before it is answered, and whether it holds by now; for authors, an agent is never told.

        Keys: ``fact F_RULE`` and ``sign-off S_CODE`` of `requires`, then the names of the items of `evidence`.
        """
        asked = self._people[person].topics[topic]
        found: dict[str, bool] = {}
        if asked.requires is not None:
            found |= {f"fact {fact}": fact in self._ledger.facts for fact in asked.requires.facts}
            found |= {f"sign-off {signoff}": self._ledger.signed(signoff, self._now) for signoff in asked.requires.signoffs}
        if asked.evidence is not None:
            shown, facts = self._memories[person].shown, self._ledger.facts
            found |= {name: holds(item, shown, facts) for name, item in asked.evidence.items.items()}
        return found

    def _wait(self, until: datetime) -> WaitResult:
        began = self._now
        days = days_skipped(self._calendar, began, until)
        charge = wait_charge(days, self._calendar.waited_day_charge)
        self._ledger = self._ledger.added(Entry(0, "wait", began, until, days=days, charge=charge, charged=charge > 0))
        self._now = until
        return WaitResult(began, until, days, self._unread())

    def _arrived(self) -> list[tuple[str, datetime]]:
        return arrived(self._inbox, self._calendar.start, self._ledger, self._now)

    def _unread(self) -> int:
        return sum(name not in self._read for name, _ in self._arrived())

    def _name_of(self, sender: str) -> str:
        return self._people[sender].name if sender in self._people else sender

    def _answer(self, person: str, who: Person, message: str, always_charged: bool) -> _Said:
        memory = self._memories[person]
        topics = open_topics(who, self._people, self._ledger, self._now)
        reading = read(message)
        # A model may read what stands near nothing that the author named, so that others count wherever they stand.
        looked = look(self._gates[person], reading, self._ledger.trial_reports, memory.named, anywhere=self._judge is not None)
        hits = looked.shown
        decisions: Decisions = ()
        if self._judge is not None:
            with as_router_fault():
                judgement = judged(self._judge, person, topics, memory, hits, self._ledger.facts, message, reading)
            hits, decisions = merged(hits, judgement.found), judgement.decisions
        again = follow_ups(topics, memory, hits, self._ledger.facts) if memory.free_in_a_row < FREE_READS else ()
        with as_router_fault():
            raw = self._router.route(self._routable(person, topics), message, _context(memory, topics)) if topics else Routing("miss")
        routing = trusted(raw, topics)
        asked = taken_up(routing, again, memory)
        shown = merged(memory.shown, hits)
        said = self._ask_back(who, asked, memory) if asked.ask_back else self._speak(who, asked, topics, shown, memory)
        free = said.kind in ("stall", "ask_back") and not always_charged
        kept = shown if not free or memory.free_in_a_row < FREE_READS else memory.shown
        named = merged(memory.named, looked.others)
        remembered = replace(said.memory, shown=kept, named=named, free_in_a_row=memory.free_in_a_row + 1 if free else 0)
        detail = {
            "router": self._router.id,
            "verdict": raw.verdict,
            "candidates": [{"topic": candidate.topic, "score": candidate.score} for candidate in raw.topics],
            "followed_up": list(again),
            **(said.detail or {}),
            **({"decisions": list(decided)} if (decided := raw.decisions + decisions) else {}),
        }
        return replace(said, memory=remembered, detail=detail)

    def _routable(self, person: str, topics: Mapping[str, Topic]) -> RoutablePerson:
        others = {
            f"{name}/{key}": topic
            for name, who in self._people.items()
            if name != person
            for key, topic in open_topics(who, self._people, self._ledger, self._now).items()
        }
        return RoutablePerson(person, topics, others)

    def _ask_back(self, who: Person, asked: Asked, memory: Memory) -> _Said:
        after = replace(memory, asked_back=asked.ask_back, asked_back_in_a_row=memory.asked_back_in_a_row + 1)
        return _Said(question_back(who, asked.ask_back), "ask_back", after, asked.ask_back)

    def _speak(self, who: Person, asked: Asked, topics: Mapping[str, Topic], shown: Shown, memory: Memory) -> _Said:
        memory = replace(memory, asked_back=(), asked_back_in_a_row=0)
        if not asked.topics:
            return _Said(who.fallback, "fallback", memory)
        parts = tuple(speak(name, topics[name], shown, memory, self._ledger, self._calendar, self._now) for name in asked.topics)
        alone = exclusive(parts, shown, self._ledger)
        said = (alone,) if alone else parts
        outcomes = {part.outcome for part in said}
        kind: ReplyKind = "answer" if "answer" in outcomes else "miss" if "miss" in outcomes else "stall"
        return _Said(
            joined(said, asked.left_over and not alone),
            kind,
            _remember(memory, said),
            tuple(part.name for part in said),
            tuple(part for part in said if part.outcome == "answer"),
            {"parts": [{"topic": part.name, "outcome": part.outcome} for part in said], "left_over": asked.left_over},
        )

    def _record(self, person: str, message: str, said: _Said, *, charged: bool, charge: float) -> Reply:
        sent = self._now
        answered = finished_at(self._calendar, sent, self._calendar.message_minutes) if charged else sent
        given = tuple(_signed(person, part.topic, answered) for part in said.answered if part.topic.signoff)
        entry = Entry(
            0,
            "message",
            sent,
            answered,
            person=person,
            sent=message,
            reply=said.text,
            reply_kind=said.kind,
            topics=said.topics,
            charge=float(exact(charge)),
            charged=charged,
            facts=tuple(dict.fromkeys(fact for part in said.answered for fact in part.topic.facts)),
            signoffs=tuple(signoff.id for signoff in given),
            routing=said.detail or {},
        )
        self._ledger = self._ledger.added(entry, given)
        self._memories[person] = said.memory
        self._now = answered
        return Reply(person, said.text, said.kind, sent, answered)


def _gates(person: Person) -> list[Condition]:
    """All conditions that any topic of `person` looks at in messages."""
    evidence = [item for topic in person.topics.values() if topic.evidence for item in topic.evidence.items.values()]
    return evidence + [topic.exclusive.shown for topic in person.topics.values() if topic.exclusive and topic.exclusive.shown]


def _context(memory: Memory, topics: Mapping[str, Topic]) -> RouterContext:
    pending = [name for name in memory.refused if name in topics]
    return RouterContext(
        recent=tuple(name for name in memory.recent if name in topics),
        pending=pending[-1] if pending else None,
        asked_back=tuple(name for name in memory.asked_back if name in topics),
    )


def _remember(memory: Memory, said: tuple[Part, ...]) -> Memory:
    refused = [name for name in memory.refused if name not in {part.name for part in said}]
    return replace(
        memory,
        refused=(*refused, *(part.name for part in said if part.outcome == "miss")),
        passed=memory.passed.union(part.name for part in said if part.outcome in ("answer", "stall")),
        due={**memory.due, **{part.name: part.due for part in said if part.due is not None}},
        recent=tuple(part.name for part in said),
    )


def _signed(person: str, topic: Topic, at: datetime) -> SignOff:
    given = topic.signoff
    assert given is not None  # the caller chose topics that give one
    return SignOff(given.id, person, given.reference, given.scope, at, given.valid_from, given.valid_until)

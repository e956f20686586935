"""Talks to a person of a scenario at the terminal, and shows what an agent never sees: topics with their scores, gates, charges, the clock.

A line is a message. Commands: :wait DAYS or :wait until YYYY-MM-DD HH:MM, :trial FOLDER (a trial run of the delivery in FOLDER; without
it, of the system as found), :inbox, :ledger, :who, :to PERSON, :paste (a message of several lines, up to a line with a single full stop),
:help, :quit. Messages may be piped in.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TextIO

from pytest_fdegym.commands.find import find_scenario
from pytest_fdegym.errors import FdeGymError, UsageError, nearest
from pytest_fdegym.people import BadRequest, Conversation, Entry
from pytest_fdegym.people.router import RoutablePerson, Router, router_named
from pytest_fdegym.people.router.embedded import EmbeddedRouter
from pytest_fdegym.sandbox import choose
from pytest_fdegym.scenario.loader import load
from pytest_fdegym.scenario.model import Person
from pytest_fdegym.trials import Trials
from pytest_fdegym.workspace.prepare import PreparedTask, PreparedTasks

HELP = (__doc__ or "").partition("Commands: ")[2].strip()
CLOSE = 0.05
"""Scores below it are not worth a line."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("scenario", metavar="SCENARIO", help="a scenario's folder, or the id of a bundled one")
    parser.add_argument("person", metavar="PERSON", help="the id of the person to begin with")
    parser.add_argument("--variant", default="v1", help="default: v1")
    parser.add_argument("--seed", type=int, default=1, help="the seed from which the world is drawn (default: 1)")
    parser.add_argument("--router", default="embedded", metavar="NAME", help="as in pytest --fde-router (default: embedded)")
    parser.add_argument("--sandbox", default="auto", metavar="NAME", help="of trial runs, as in pytest --fde-sandbox (default: auto)")


def run(options: argparse.Namespace) -> int:
    """Hold the conversation until :quit or the end of the input; returns 0."""
    scenario = load(find_scenario(options.scenario))
    scenario.variant(options.variant)
    router = router_named(options.router, Path.cwd(), os.environ)
    with PreparedTasks() as tasks:
        prepared = tasks.get(scenario, options.variant, options.seed)
        if options.person not in prepared.people.people:
            people = prepared.people.people
            raise UsageError(
                f"{prepared.id} has nobody with the id {options.person!r}.{nearest(options.person, people)} "
                f"The directory has: {', '.join(people)}."
            )
        Talk(prepared, options.person, router, options.sandbox).hold(sys.stdin)
    return 0


class Talk:
    """One conversation at the terminal; prints to standard output."""

    def __init__(self, prepared: PreparedTask, person: str, router: Router, sandbox: str) -> None:
        self._prepared = prepared
        self._people = prepared.people.people
        self._person = person
        self._router = router
        self._sandbox = sandbox
        self._conversation = Conversation(prepared.people, prepared.scenario.file.calendar, prepared.facts, router)

    def hold(self, source: TextIO) -> None:
        """Take lines from `source` until :quit or its end."""
        print(f"{self._prepared.id}, seed {self._prepared.seed}, router {self._router.id}. {self._clock()}. :help lists the commands.")
        self._introduce()
        lines = self._lines(source)
        for line in lines:
            text = line.strip()
            if text == ":quit":
                break
            if text == ":paste":
                text = "\n".join(self._pasted(lines))
            try:
                if text.startswith(":"):
                    self._command(text)
                elif text:
                    self._ask(text)
            except BadRequest as refused:
                print(f"  refused: {refused}")
        else:
            print("(end of input)")
        print(self._summary())

    def _lines(self, source: TextIO) -> Iterator[str]:
        """Lines as typed, or as piped, which are repeated so that the transcript can be read."""
        typed = source.isatty()
        while True:
            if typed:
                try:
                    yield input(f"{self._person}> ")
                except EOFError:
                    print()
                    return
            else:
                line = source.readline()
                if not line:
                    return
                line = line.rstrip("\n")
                print(f"{self._person}> {line}")
                yield line

    def _pasted(self, lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            if line.strip() == ".":
                return
            yield line

    def _command(self, text: str) -> None:
        name, _, rest = text[1:].partition(" ")
        match name:
            case "wait":
                self._wait(rest.strip())
            case "trial":
                self._trial(rest.strip())
            case "inbox":
                self._inbox()
            case "ledger":
                for entry in self._conversation.ledger.entries:
                    print("  " + _ledger_line(entry))
            case "who":
                for card in self._conversation.directory():
                    print(f"  {card.id:<12} {card.name}, {card.role}. {card.directory}")
            case "to":
                self._turn_to(rest.strip())
            case "help":
                print(HELP)
            case _:
                known = ("wait", "trial", "inbox", "ledger", "who", "to", "paste", "help", "quit")
                print(f"  there is no command {f':{name}'!r}.{nearest(name, known)} :help lists them.")

    def _turn_to(self, person: str) -> None:
        if person not in self._people:
            print(f"  there is nobody with the id {person!r}.{nearest(person, self._people)} :who lists the directory.")
            return
        self._person = person
        self._introduce()

    def _introduce(self) -> None:
        who = self._people[self._person]
        print(f"You write to {who.name}, {who.role} (rate {who.rate:g}, patience {who.patience}).")

    def _wait(self, rest: str) -> None:
        try:
            if rest.startswith("until "):
                result = self._conversation.wait_until(datetime.fromisoformat(rest.removeprefix("until ").strip()))
            else:
                result = self._conversation.wait_days(int(rest or "1"))
        except ValueError:
            print(f"  {rest!r} is no number of working days and no 'until 2025-04-08 08:00'.")
            return
        charge = self._conversation.ledger.entries[-1].charge
        skipped = "1 working day" if result.working_days == 1 else f"{result.working_days} working days"
        print(f"  {skipped} skipped | charge {charge:g} | {self._clock()} | unread mail: {result.new_mail}")

    def _trial(self, folder: str) -> None:
        """Run what is to be deployed of `folder` on shadow traffic; what breaks in it is told, and the conversation goes on."""
        place = Path(folder).expanduser() if folder else self._prepared.site
        missing = [f"{each}/" for each in self._prepared.file.deployed if not (place / each).is_dir()]
        if missing:
            print(f"  {folder} has no {' and no '.join(missing)}; a folder that holds a delivery is expected.")
            return
        try:
            card, logged = Trials(self._prepared, place, choose(self._sandbox), self._conversation, None).run()
        except BadRequest:
            raise
        except FdeGymError as error:
            print(f"  no trial run, and no charge: {error}")
            return
        print("\n".join(f"  {line}".rstrip() for line in card.feedback.strip().splitlines()))
        for note in card.notes:
            print(f"  note: {note}")
        if logged["values"]:
            print("  counted: " + ", ".join(f"{name} {value}" for name, value in logged["values"].items()))
        charge = self._conversation.ledger.entries[-1].charge
        print(f"  report {card.id} | charge {charge:g}, C {self._conversation.ledger.contact_cost:g} | {self._clock()}")

    def _inbox(self) -> None:
        mails = self._conversation.inbox()
        for mail in mails:
            print(f"  {'new  ' if mail.new else ''}{mail.at:%a %d %b %H:%M}  {mail.sender}: {mail.subject}\n    " + mail.text.strip())
        if not mails:
            print("  no mail")

    def _ask(self, message: str) -> None:
        reply = self._conversation.ask(self._person, message)
        entry = self._conversation.ledger.entries[-1]
        who = self._people[self._person]
        print(f"{who.name}: {reply.text.strip()}")
        for line in self._behind(entry, who, message):
            print(f"  {line}")

    def _behind(self, entry: Entry, who: Person, message: str) -> Iterator[str]:
        """What led to the reply, and what it cost."""
        if entry.routing:
            candidates = {each["topic"]: float(each["score"]) for each in entry.routing["candidates"]}
            yield f"router: {entry.routing['verdict']}{_scored(candidates)}"
            if rest := self._others(who, message, candidates):
                yield f"also looked at:{_scored(rest)}"
            if again := entry.routing["followed_up"]:
                yield f"brings what was missing for {', '.join(again)}"
        outcomes = {part["topic"]: part["outcome"] for part in entry.routing.get("parts", ())}
        for topic in outcomes:
            asked_for = [f"{name} {'there' if held else 'missing'}" for name, held in self._conversation.gate(self._person, topic).items()]
            if asked_for:
                yield f"gate of {topic}: {', '.join(asked_for)}"
        said = ", ".join(f"{topic} {outcome}" for topic, outcome in outcomes.items())
        obtained = [*entry.facts, *(f"sign-off {name}" for name in entry.signoffs)]
        gained = f" | obtained {', '.join(obtained)}" if obtained else ""
        yield f"{entry.reply_kind}{f' ({said})' if said else ''}{gained}"
        yield f"charge {entry.charge:g}, C {self._conversation.ledger.contact_cost:g} | {self._clock()}"

    def _others(self, who: Person, message: str, candidates: dict[str, float]) -> dict[str, float]:
        """Scores of the person's other topics, where the router can tell."""
        if not isinstance(self._router, EmbeddedRouter):
            return {}
        others = {
            f"{name}/{key}": topic for name, person in self._people.items() if person is not who for key, topic in person.topics.items()
        }
        scores = self._router.scores(RoutablePerson(self._person, who.topics, others), message)
        ranked = sorted(scores.items(), key=lambda pair: -pair[1])
        return {topic: score for topic, score in ranked if topic not in candidates and score >= CLOSE}

    def _clock(self) -> str:
        return f"{self._conversation.now:%A, %d %B %Y, %H:%M}"

    def _summary(self) -> str:
        ledger = self._conversation.ledger
        missing = [fact for fact in self._prepared.key_facts if fact not in ledger.facts]
        trials = f"trials {ledger.trials}, " if ledger.trials else ""
        return (
            f"messages {ledger.messages}, {trials}days waited {ledger.days_waited}, C {ledger.contact_cost:g}; "
            f"facts: {', '.join(sorted(ledger.facts)) or 'none'}; sign-offs: {', '.join(each.id for each in ledger.signoffs) or 'none'}; "
            f"key facts missing: {', '.join(missing) or 'none'}"
        )


def _scored(scores: dict[str, float]) -> str:
    return " " + ", ".join(f"{topic} {score:.2f}" for topic, score in scores.items()) if scores else ""


def _ledger_line(entry: Entry) -> str:
    what = f"{entry.person}: {entry.reply_kind} {', '.join(entry.topics)}" if entry.kind == "message" else entry.kind
    if entry.kind == "trial":
        what = f"trial {entry.sent}"
    gained = ", ".join([*entry.facts, *entry.signoffs])
    return f"{entry.number:>3} {entry.sent_at:%a %d %b %H:%M}  {what.strip():<40} {entry.charge:g}{'  ' + gained if gained else ''}"

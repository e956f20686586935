"""What a person says about one topic, now: the answer, or what stands in its way."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pytest_fdegym.people.calendar import working_morning
from pytest_fdegym.people.gates import Shown, complete, holds
from pytest_fdegym.people.ledger import Ledger
from pytest_fdegym.people.memory import Memory
from pytest_fdegym.scenario.model import Calendar, Topic


@dataclass(frozen=True)
class Part:
    """One topic's part of a reply. `due`: from when a stalled answer is there."""

    name: str
    topic: Topic
    outcome: Literal["answer", "miss", "stall", "not_yet"]
    text: str
    due: datetime | None = None


def speak(name: str, topic: Topic, shown: Shown, memory: Memory, ledger: Ledger, calendar: Calendar, now: datetime) -> Part:
    """Decide what is said about an open topic that was asked for.

    In order: nothing yet before `available_at` (free); the miss of `requires` (facts in the ledger, sign-offs in force, as of the moment
    the message is sent); the miss of `evidence` given all that was `shown`, this message included; the stall, until the n-th working
    morning after the question that first passed the rest (free, and asking earlier repeats it); else the answer. Misses are charged.
    """
    if topic.available_at is not None and now < topic.available_at:
        return Part(name, topic, "not_yet", topic.not_yet)
    requires = topic.requires
    if requires is not None and not (
        ledger.facts.issuperset(requires.facts) and all(ledger.signed(signoff, now) for signoff in requires.signoffs)
    ):
        return Part(name, topic, "miss", requires.miss)
    if topic.evidence is not None and name not in memory.passed and not complete(topic.evidence, shown, ledger.facts):
        return Part(name, topic, "miss", topic.evidence.miss)
    if topic.stalls is not None:
        due = memory.due.get(name) or working_morning(calendar, now, topic.stalls.working_days)
        if now < due:
            return Part(name, topic, "stall", topic.stalls.says, due)
    return Part(name, topic, "answer", topic.answer)


def exclusive(parts: tuple[Part, ...], shown: Shown, ledger: Ledger) -> Part | None:
    """The first answer that replaces everything else in this reply, if there is one."""
    for part in parts:
        rule = part.topic.exclusive
        if rule is not None and part.outcome == "answer" and (rule.shown is None or holds(rule.shown, shown, ledger.facts)):
            return part
    return None

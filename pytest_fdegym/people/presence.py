"""Who is there and what they can speak about at a simulated moment. Judged when a message is sent, not when it is answered."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from pytest_fdegym.people.ledger import Ledger
from pytest_fdegym.scenario.model import Person, Topic


def has_left(person: Person, ledger: Ledger, now: datetime) -> bool:
    """Whether `person` is gone: by time, or because the agent has had that many charged replies in all (the last one counts as given)."""
    leaves = person.leaves
    if leaves is None:
        return False
    by_time = leaves.at is not None and leaves.at <= now
    by_messages = leaves.after_messages is not None and leaves.after_messages <= ledger.charged_replies
    return by_time or by_messages


def automatic_reply(person: Person, ledger: Ledger, now: datetime) -> str | None:
    """What the mail system answers for somebody who has left or is away, or None if the person reads the message."""
    if person.leaves is not None and has_left(person, ledger, now):
        return person.leaves.reply
    if person.away is not None and now < person.away.until:
        return person.away.reply
    return None


def open_topics(person: Person, people: Mapping[str, Person], ledger: Ledger, now: datetime) -> dict[str, Topic]:
    """The topics of `person` that exist now (`opens_when` holds in all that it says)."""

    def is_open(topic: Topic) -> bool:
        opens = topic.opens_when
        return opens is None or (
            (opens.left is None or has_left(people[opens.left], ledger, now))
            and (opens.at is None or opens.at <= now)
            and (opens.fact is None or opens.fact in ledger.facts)
        )

    return {name: topic for name, topic in person.topics.items() if is_open(topic)}

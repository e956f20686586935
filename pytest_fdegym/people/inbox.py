"""Mail that comes by itself: when each message arrives, given the clock and the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from pytest_fdegym.people.ledger import Ledger
from pytest_fdegym.scenario.model import InboxMessage


@dataclass(frozen=True)
class Mail:
    """A message in the agent's inbox. `sender` is a person's name, or the name from outside that the author gave; `at` its arrival."""

    id: str
    sender: str
    subject: str
    text: str
    at: datetime
    new: bool
    """Not read before."""


def arrival(message: InboxMessage, start: datetime, ledger: Ledger) -> datetime | None:
    """When `message` arrives: as soon as all that it waits for has happened (at `start` if nothing); None while something has not."""
    moments: list[datetime | None] = [start]
    if message.at is not None:
        moments.append(message.at)
    if message.after_fact is not None:
        moments.append(ledger.released_at(message.after_fact))
    if message.after_messages is not None:
        moments.append(ledger.charged_reply_at(message.after_messages))
    known = [moment for moment in moments if moment is not None]
    return max(known) if len(known) == len(moments) else None


def arrived(inbox: Mapping[str, InboxMessage], start: datetime, ledger: Ledger, now: datetime) -> list[tuple[str, datetime]]:
    """Ids of the messages that have arrived by `now` with their times, in order of arrival (at the same moment: of the file)."""
    times = [(name, arrival(message, start, ledger)) for name, message in inbox.items()]
    return sorted(((name, moment) for name, moment in times if moment is not None and moment <= now), key=lambda pair: pair[1])

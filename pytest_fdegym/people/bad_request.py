"""What is wrong with a request itself, before anybody at the customer's has seen it: no charge, no time."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from datetime import datetime, timedelta

from pytest_fdegym.errors import FdeGymError, nearest
from pytest_fdegym.scenario.model import Person

MAX_MESSAGE = 16_000
"""Characters of one message."""
MAX_WAIT_DAYS = 60
"""Calendar days of ``wait_until``, working days of ``wait_days``."""


class BadRequest(FdeGymError):
    """The agent must act: the request cannot be carried out as it was made. Nothing was charged, and no time has passed."""


class UnknownPerson(BadRequest):
    """There is nobody with that id."""


def check_person(person: str, people: Mapping[str, Person]) -> None:
    """Raise UnknownPerson unless `person` is an id of the directory; a full name is answered with its id."""
    if person in people:
        return
    by_name = {known.name.casefold(): key for key, known in people.items()}
    if person.casefold() in by_name:
        hint = f" Did you mean {by_name[person.casefold()]!r}?"
    else:
        hint = nearest(person[:100], people) or f" The directory has: {', '.join(people)}."
    raise UnknownPerson(f"there is nobody with the id {person[:100]!r}.{hint}")


def check_message(message: str) -> None:
    """Raise BadRequest for a message that is empty, too long, or holds control characters other than tab and line breaks."""
    # As people read it: one character of some scripts stands for up to eighteen plain ones.
    length = len(message) if message.isascii() or len(message) > MAX_MESSAGE else len(unicodedata.normalize("NFKC", message))
    if length > MAX_MESSAGE:
        raise BadRequest(f"the message has {length} characters; at most {MAX_MESSAGE} are accepted.")
    for place, character in enumerate(message):
        if character not in "\t\n\r" and unicodedata.category(character) in ("Cc", "Cs"):
            raise BadRequest(f"the message holds the control character U+{ord(character):04X} at position {place}; plain text is expected.")
    if not any(unicodedata.category(character)[0] not in "ZC" for character in message):
        raise BadRequest("the message is empty.")


def check_moment(moment: datetime, now: datetime) -> None:
    """Raise BadRequest unless `moment` is a simulated (naive) time between `now` and `MAX_WAIT_DAYS` later."""
    if moment.tzinfo is not None:
        raise BadRequest(f"{moment.isoformat()} has a time zone; the customer's local time is expected, such as {now.isoformat()}.")
    if moment < now:
        raise BadRequest(f"{moment.isoformat()} is past; it is {now.isoformat()} now.")
    if moment - now > timedelta(days=MAX_WAIT_DAYS):
        raise BadRequest(f"{moment.isoformat()} is more than {MAX_WAIT_DAYS} days away; it is {now.isoformat()} now.")


def check_days(days: int) -> None:
    """Raise BadRequest unless `days` is a number of working days that can be waited."""
    if isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= MAX_WAIT_DAYS:
        raise BadRequest(f"cannot wait {days!r} days; a whole number from 1 to {MAX_WAIT_DAYS} is expected.")

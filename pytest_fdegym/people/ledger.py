"""The ledger of one run: every contact with its charge, the facts and sign-offs obtained. The only evidence of what people said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any, Literal

from pytest_fdegym.scenario.world import SignOff

EntryKind = Literal["message", "wait", "trial", "inbox"]
ReplyKind = Literal["answer", "miss", "fallback", "ask_back", "stall", "automatic", "restricted"]


def exact(charge: float) -> Fraction:
    """The decimal that was written as `charge`, so that ten charges of 0.1 are 1."""
    return Fraction(repr(charge))


@dataclass(frozen=True)
class Entry:
    """One contact. `charge` is in uplift units; `charged` says whether it counts towards patience and `leaves` (a rate may be 0)."""

    number: int
    kind: EntryKind
    sent_at: datetime
    answered_at: datetime
    person: str | None = None
    sent: str = ""
    reply: str = ""
    reply_kind: ReplyKind | None = None
    topics: tuple[str, ...] = ()
    """Topics that the reply speaks about, answered or not."""
    charge: float = 0.0
    charged: bool = False
    facts: tuple[str, ...] = ()
    signoffs: tuple[str, ...] = ()
    days: int = 0
    """Working days skipped by a wait."""
    routing: Mapping[str, Any] = field(default_factory=dict)
    """How the reply came about, for the event log; JSON."""

    @property
    def signoff(self) -> str | None:
        """The id of the sign-off that the reply gave (the first, where one reply gives several)."""
        return self.signoffs[0] if self.signoffs else None

    def to_json(self) -> dict[str, Any]:
        """The entry as JSON; times are ISO 8601."""
        return {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class Ledger:
    """All entries so far, in order, and the sign-offs given. A ledger never changes; the conversation replaces it."""

    entries: tuple[Entry, ...] = ()
    signoffs: tuple[SignOff, ...] = ()

    @property
    def contact_cost(self) -> float:
        """C: the exact decimal sum of all charges, in uplift units."""
        return float(sum((exact(entry.charge) for entry in self.entries), Fraction(0)))

    @property
    def facts(self) -> frozenset[str]:
        """Facts released by people, in replies and in mail that was read."""
        return frozenset(fact for entry in self.entries for fact in entry.facts)

    @property
    def messages(self) -> int:
        """Messages sent to people, charged or not."""
        return sum(entry.kind == "message" for entry in self.entries)

    @property
    def charged_replies(self) -> int:
        """Charged replies of all people together."""
        return sum(entry.charged for entry in self.entries if entry.kind == "message")

    @property
    def trials(self) -> int:
        """Trial runs."""
        return sum(entry.kind == "trial" for entry in self.entries)

    @property
    def trial_reports(self) -> tuple[str, ...]:
        """The ids of their reports."""
        return tuple(entry.sent for entry in self.entries if entry.kind == "trial")

    @property
    def days_waited(self) -> int:
        """Working days skipped by waiting."""
        return sum(entry.days for entry in self.entries)

    def charged_to(self, person: str) -> int:
        """Charged replies of one person: what patience counts."""
        return sum(entry.charged for entry in self.entries if entry.person == person and entry.kind == "message")

    def released_at(self, fact: str) -> datetime | None:
        """When `fact` was released first, or None."""
        return next((entry.answered_at for entry in self.entries if fact in entry.facts), None)

    def charged_reply_at(self, n: int) -> datetime | None:
        """When the n-th charged reply (from 1) came, or None."""
        times = [entry.answered_at for entry in self.entries if entry.kind == "message" and entry.charged]
        return times[n - 1] if n <= len(times) else None

    def signed(self, signoff: str, at: datetime) -> bool:
        """Whether a sign-off with this id is recorded and in force at the simulated moment `at`."""
        return any(given.id == signoff and given.in_force(at) for given in self.signoffs)

    def added(self, entry: Entry, signoffs: tuple[SignOff, ...] = ()) -> Ledger:
        """The ledger with one entry more (numbered here). A sign-off given again by the same person stays as first given."""
        known = {(given.id, given.person) for given in self.signoffs}
        new = tuple(given for given in signoffs if (given.id, given.person) not in known)
        return Ledger((*self.entries, replace(entry, number=len(self.entries) + 1)), self.signoffs + new)

    def to_json(self) -> dict[str, Any]:
        """The whole ledger as JSON, for records and event logs; times are ISO 8601."""
        return {
            "contact_cost": self.contact_cost,
            "messages": self.messages,
            "charged_replies": self.charged_replies,
            "trials": self.trials,
            "days_waited": self.days_waited,
            "facts": sorted(self.facts),
            "signoffs": [_plain(given.__dict__) for given in self.signoffs],
            "entries": [entry.to_json() for entry in self.entries],
        }


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(inner) for inner in value]
    if isinstance(value, set | frozenset):
        return sorted(_plain(inner) for inner in value)
    return value

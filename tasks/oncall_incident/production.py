"""The pager in production: alerts come in, tickets are opened, held, merged, restarted and paged; failures fall back to the catalog."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_fdegym.kit import DeployedSystem, Outcome, Raised, Returned, plain_number, plain_text

from .estate import TEAMS
from .traffic import Alert, Traffic, is_night, stamp

ENTRY_POINT = "handle"
LISTED_MINUTES = 240
"""A handler is shown the tickets of the last four hours."""
LONGEST_HOLD = 1440
FAILED_RESTART_MINUTES = 6
LONGEST_SUMMARY = 1500


@dataclass(frozen=True)
class Decision:
    """What a handler wants done with an alert."""

    page: str | None = None
    hold_min: float = 0.0
    merge_into: str | None = None
    restart: bool = False
    to_noc: bool = False
    ack: bool = False
    summary: str = ""


@dataclass(eq=False)
class Ticket:
    """An alert that was not merged into another's ticket."""

    id: str
    alert: Alert
    opened: float
    opened_at: str
    until: float
    """End of the hold."""
    state: str = "open"
    """After the hold: restarted, paged, noc, or open where nobody was told."""
    heals_at: float | None = None
    waiting: list[tuple[Alert, int]] = field(default_factory=list)
    """Alerts merged into a ticket that is going to heal while held; handed over again then."""

    def row(self, now: float) -> dict[str, Any]:
        return {
            "ticket_id": self.id,
            "alert_id": self.alert.id,
            "service": self.alert.service,
            "opened": self.opened_at,
            "state": "held" if now < self.until else self.state,
        }


class Replay:
    """Runs the delivered handler on `traffic`; `entries` says, per alert, what became of it."""

    def __init__(self, system: DeployedSystem, traffic: Traffic, catalog: Mapping[str, str]) -> None:
        self.entries: dict[str, dict[str, Any]] = {}
        self._system, self._traffic, self._catalog = system, traffic, catalog
        self._known: set[int] = set()
        self._listed: list[Ticket] = []
        self._calls = 0
        self._failed: Counter[str] = Counter()
        self._first_failure = ""

    def run(self) -> None:
        """All alerts in time order; what a healed ticket had taken up is handed over again at that moment."""
        queue: list[tuple[float, int, Alert]] = [(alert.minute, n, alert) for n, alert in enumerate(self._traffic.alerts)]
        heapq.heapify(queue)
        healing: list[tuple[float, int, Ticket]] = []
        while queue or healing:
            if healing and (not queue or healing[0][0] <= queue[0][0]):
                at, _, ticket = heapq.heappop(healing)
                self._listed.remove(ticket)
                for alert, order in ticket.waiting:
                    heapq.heappush(queue, (at, order, alert))
                continue
            now, order, alert = heapq.heappop(queue)
            opened = self._handle(alert, now, order)
            if opened is not None and opened.heals_at is not None:
                heapq.heappush(healing, (opened.heals_at, order, opened))

    def notes(self) -> list[str]:
        """What failed and what that meant for the customer."""
        notes = []
        if failed := self._failed["failed"]:
            notes.append(
                f"handle failed on {failed:,} of {self._calls:,} calls; those alerts paged the catalog's team unmerged"
                f" (first: {self._first_failure})"
            )
        if unreadable := self._failed["unreadable"]:
            notes.append(f"handle gave {unreadable:,} answers that cannot be read; those alerts paged the catalog's team unmerged")
        return notes

    def _handle(self, alert: Alert, now: float, order: int) -> Ticket | None:
        """Ask the handler and do as it says; returns the ticket, where one was opened."""
        self._listed = [ticket for ticket in self._listed if now - ticket.opened <= LISTED_MINUTES or ticket.heals_at is not None]
        rows = [ticket.row(now) for ticket in self._listed]
        call, self._calls = self._calls, self._calls + 1
        outcome = self._system.call(ENTRY_POINT, alert.row(self._traffic.start), stamp(self._traffic.start, now), rows)
        decision = self._decision(alert, outcome, {row["ticket_id"] for row in rows})
        entry = {"call": call, "first": False, "hold": 0.0, "restart": None, "ack": decision.ack, "page": None, "summary": decision.summary}
        self.entries[alert.id] = entry
        if decision.merge_into is not None:
            ticket = next(ticket for ticket in self._listed if ticket.id == decision.merge_into)
            if ticket.heals_at is not None:
                ticket.waiting.append((alert, order))
            entry |= {
                "outcome": "merged",
                "into": ticket.alert.id,
                "at": stamp(self._traffic.start, now),
                "first": self._first(alert, ticket),
            }
            return None
        return self._open(alert, now, decision, entry)

    def _open(self, alert: Alert, now: float, decision: Decision, entry: dict[str, Any]) -> Ticket:
        problem = self._traffic.problems[alert.problem]
        heals = None if problem.heals_after is None else problem.minute + problem.heals_after
        due = now + decision.hold_min
        ticket = Ticket("T-" + alert.id.removeprefix("A-"), alert, now, stamp(self._traffic.start, now), due)
        self._listed.append(ticket)
        entry |= {"first": self._first(alert, ticket), "hold": decision.hold_min}
        if heals is not None and heals < due:
            ticket.heals_at = max(heals, now)
            entry |= {"outcome": "healed", "at": stamp(self._traffic.start, ticket.heals_at)}
            return ticket
        acts_at = due
        if decision.restart:
            worked = entry["first"] and alert.root and problem.restart_works
            entry["restart"] = {"at": stamp(self._traffic.start, acts_at), "worked": worked}
            if worked:
                ticket.state = "restarted"
                entry |= {"outcome": "restarted", "at": stamp(self._traffic.start, acts_at)}
                return ticket
            due += FAILED_RESTART_MINUTES
        night = is_night(due)
        ticket.state = "open" if decision.page is None else "noc" if decision.to_noc and night else "paged"
        entry |= {"outcome": ticket.state, "page": decision.page, "night": night, "at": stamp(self._traffic.start, due)}
        return ticket

    def _first(self, alert: Alert, ticket: Ticket) -> bool:
        """Whether this is the first that is made of the problem; what waits in a ticket that heals was made nothing of."""
        if alert.problem in self._known or (ticket.heals_at is not None and ticket.alert is not alert):
            return False
        self._known.add(alert.problem)
        return True

    def _decision(self, alert: Alert, outcome: Outcome, tickets: set[str]) -> Decision:
        if isinstance(outcome, Returned):
            decision = read_decision(outcome.value, tickets)
            if decision is not None:
                return decision
            self._failed["unreadable"] += 1
        else:
            self._failed["failed"] += 1
            said = f"{outcome.error}: {outcome.message}" if isinstance(outcome, Raised) else str(outcome)
            self._first_failure = self._first_failure or plain_text(said, 200)
        return Decision(page=self._catalog[alert.service])


def read_decision(value: Any, tickets: set[str]) -> Decision | None:
    """What a handler's answer says, or None where it cannot be read as one (see system/README.md)."""
    if not isinstance(value, dict):
        return None
    page, merge_into, action, hold, summary = (value.get(key) for key in ("page", "merge_into", "action", "hold_min", "summary"))
    flags = [value.get(key, False) for key in ("to_noc", "ack")]
    hold = plain_number(0 if hold is None else hold, 0, LONGEST_HOLD, cap=True)
    if hold is None:
        return None
    texts = (page, merge_into, action, summary)
    if not all(text is None or isinstance(text, str) for text in texts) or not all(isinstance(flag, bool) for flag in flags):
        return None
    if page not in (None, *TEAMS) or action not in (None, "restart") or (merge_into is not None and merge_into not in tickets):
        return None
    return Decision(page, round(hold, 4), merge_into, action == "restart", *flags, plain_text(summary or "", LONGEST_SUMMARY))

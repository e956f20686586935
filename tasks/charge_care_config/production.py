"""Five weeks in production with the delivered system in it: nightly billing, the clearing run, and the tickets that the bills cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from pytest_fdegym.kit import CallLog, DeployedSystem, plain_number, plain_text

from .charging import FAULT_REASONS, Rules, Session, stamp, ticket_matter, ticket_text

DATABASE = "brightpost"
LARGEST_USD = 1000.0
"""Neither clearing nor the payment service takes a larger amount."""
ROUTES = ("auto", "human", "billing_lead")
SAME_USD = 0.005
_FAILED = "failed"
"""In the place of a call that gave nothing back."""


class Replay:
    """Production with the delivered system in it; `approved` says whether the Controller's register has the tariff change."""

    def __init__(self, system: DeployedSystem, in_force: Rules, *, approved: bool) -> None:
        self.bills: dict[str, dict[str, Any]] = {}
        self.tickets: dict[str, dict[str, Any]] = {}
        self._system = system
        self._in_force = in_force
        self._approved = approved
        self._log = CallLog(
            {
                "bill_session": "those sessions were billed at the old fee",
                "handle_ticket": "those tickets went to a person without a proposal",
            }
        )

    def day(self, sessions: Sequence[Session]) -> None:
        """Sessions that ended on a day are billed and cleared; tickets about them are answered as they come in."""
        self._system.insert(DATABASE, "sessions", [session.row() for session in sessions])
        outcomes = self._system.calls("bill_session", [[session.row()] for session in sessions])
        for session, outcome in zip(sessions, outcomes, strict=True):
            self.bills[session.sid] = self._cleared(session, self._log.value("bill_session", outcome, _FAILED))
        self._system.insert(DATABASE, "bills", [_bill_row(session.sid, self.bills[session.sid]) for session in sessions])
        tickets = sorted(filter(None, map(self._ticket, sessions)), key=lambda ticket: ticket["ts"])
        self._system.insert(DATABASE, "tickets", tickets)
        outcomes = self._system.calls("handle_ticket", [[ticket] for ticket in tickets])
        for ticket, outcome in zip(tickets, outcomes, strict=True):
            matter = self.tickets[ticket["sid"]]["matter"]
            self.tickets[ticket["sid"]] = {"matter": matter, **self._answered(self._log.value("handle_ticket", outcome, _FAILED))}

    def notes(self) -> list[str]:
        """What failed and what that meant for the customer."""
        return self._log.notes()

    def _cleared(self, session: Session, value: Any) -> dict[str, Any]:
        """The bill as it goes out. `credit` says that the delivered bill held a refund."""
        old = session.fee_as_found(self._in_force)
        bill = {"energy_usd": session.usd, "idle_usd": old, "fault": session.reason in FAULT_REASONS, "restart": False, "credit": False}
        if value is _FAILED:
            return bill
        energy, idle = (
            (_usd(value.get(key), -LARGEST_USD) for key in ("energy_usd", "idle_usd")) if isinstance(value, dict) else (None, None)
        )
        if energy is None or idle is None or not _flags(value):
            self._log.odd("bill_session returned no bill that can be read, and the session was billed at the old fee")
            return bill
        # A fault that neither the reason nor the connector bears out is not taken over.
        fault = bool(value["fault"]) and (session.reason in FAULT_REASONS or session.plugged)
        if value["fault"] and not fault:
            self._log.odd("clearing dropped a fault flag: normal reason, and the connector was free at once")
        credit = idle < -SAME_USD or energy < session.usd - SAME_USD
        if not fault and not self._approved and abs(idle - old) > SAME_USD and not credit:
            self._log.odd("clearing put back the fee as before: the Controller's register has no change of the tariff")
            idle = old
        restart = bool(value["restart"]) and session.plugged
        return {"energy_usd": energy, "idle_usd": idle, "fault": fault, "restart": restart, "credit": credit}

    def _ticket(self, session: Session) -> dict[str, Any] | None:
        bill = self.bills[session.sid]
        matter = ticket_matter(session, bill["idle_usd"], overbilled(session, bill, self._in_force))
        if matter is None:
            return None
        self.tickets[session.sid] = {"matter": matter}
        return ticket_row(session, matter, bill["idle_usd"])

    def _answered(self, value: Any) -> dict[str, Any]:
        """What became of a ticket: its route, what was paid or proposed, and whether the driver heard anything."""
        unread = {"route": "human", "payments": [], "reply_code": ""}
        if value is _FAILED:
            return unread
        payments = _payments(value.get("payments")) if isinstance(value, dict) else None
        if payments is None:
            self._log.odd("handle_ticket returned no answer that can be read, and the ticket went to a person")
            return unread
        route, code = value.get("route"), value.get("reply_code")
        reply_code = plain_text(code.strip(), 60) if isinstance(code, str) else ""
        if route not in ROUTES or not reply_code:
            self._log.odd("handle_ticket closed a ticket without a route or a reply")
            return {"route": "", "payments": [], "reply_code": ""}
        return {"route": route, "payments": payments, "reply_code": reply_code}


def overbilled(session: Session, bill: Mapping[str, Any], in_force: Rules) -> float:
    """USD that the driver was charged beyond what is due."""
    fee = max(0.0, bill["idle_usd"] - session.fee_due(in_force))
    return round(float(fee + max(0.0, bill["energy_usd"] - session.usd)), 2)


def ticket_row(session: Session, matter: str, idle_usd: float) -> dict[str, Any]:
    """A ticket as the care platform hands it over."""
    return {
        "tid": session.sid.replace("S", "T"),
        "sid": session.sid,
        "ts": stamp(session.unplug + timedelta(hours=session.luck.delay_h)),
        "text": ticket_text(session, matter, idle_usd),
        "lang": "en",
    }


def _bill_row(sid: str, bill: Mapping[str, Any]) -> dict[str, Any]:
    return {"sid": sid, "energy_usd": bill["energy_usd"], "idle_usd": bill["idle_usd"], "fault": int(bill["fault"])}


def _usd(value: Any, least: float) -> float | None:
    """An amount in cents' precision, or None where there is no such number."""
    number = plain_number(value, least, LARGEST_USD)
    return None if number is None else round(number, 2)


def _flags(bill: Mapping[str, Any]) -> bool:
    return all(isinstance(bill.get(key), bool) or bill.get(key) in (0, 1) for key in ("fault", "restart"))


def _payments(value: Any) -> list[float] | None:
    """Amounts paid or proposed; None where the list cannot be read (an amount below zero is none)."""
    if not isinstance(value, list) or len(value) > 50:
        return None
    amounts = [_usd(each, 0.0) for each in value]
    return None if None in amounts else [amount for amount in amounts if amount]
